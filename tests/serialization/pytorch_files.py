"""Files written by PyTorch 2.13: its bytes, compressed, as text."""

from base64 import b85decode
from zlib import decompress


def _bytes(text):
    return decompress(b85decode("".join(text.split())))


VIEWS = _bytes("""
c-p0wO-vI(6vwCCcEMGlAj*dbep>`eyQP%+1=*Or>_MoSG+dgc9qHoI_HCyKCMG1LBpgiS;?bZNFW$X+*9*p@7vsTr^60^fGhJ
GCr+kP^I=e|bzyJHs&U<e=r3pTSnwwF>2%vVPTbZ1(h)1$I(L=?@rmD1{8P{0xJ_8g?c_^?1o(w5aB9tx@!z@W@3(uAfGn*zjU
n*GXMOgxGFqmqhi%WE+K8HcD5lJ-
*I=OFuDS@vl7zTezp!ZC%45B6yXqwiLCRU(X^Hkv2dL~maO`IV{Azza2Sy^o1>|G;6B#;J@aGb!2B%Dmq?V+M>5opQL;5i}Z%l
UIvxz=gTt9dIBU~+BiIYzY;IF*Eslt?L3w(>X&r+MxSvmt2SHR#klny?04Hrq|0Ckba$e#+v7B3Xvs8d}{?1kO<bM4*oeAV&66
9nTt^w*@W`xR``X)!_N^!YsDnvP(gRD^$Tl;3`!Z7_g~p1cFHzNU<}ta1rZ-
n!fJhqA+N4LoBkt0>c`rK*;7t2!xXmDTk)CrsknHzxzK?gw3fvbE6ZD)N>>Bs9-JVB)y2O5<Ll38RSxA-w|O!-
~al$%51W^chDXb-wC>%KWW`G=JE?TPgEs(n7FkuHp&c4Jb|BH8p6A;fi^TzH!!<QaDk<qs@(jaxV2##gqWClsNDYE%?@7N*Fy`
s<EqM$u&UfRf&p7~WrAKN>4(l0IyWboqs|vUHoE8!U3EujS4Tr`M-
f#C{<EX~cG}_Al~pBx8vRdJy{>P4d&>;^4tRQ#Zq2Bw+&aqf&9G<3;?K{&es^&ER!0Wa>*YxK6O~x>tygmo56<5{B<~bZb^9f3
8MK0)>a2&RjjXDK4rwM5j>pHx<hY!OClcea(a4w_3nyanL|l$0<ajJG8Xb+s#>be;kIz4B2C0u=)uo4-
t^0KLoj`+g{yoIg&IZ!yB741PuTI5_IGaF^OJu_-
($IN$9cLl8xpdkE)Yw3H+*x%kF8rl{xZ1C=yVs?21brME;o~|h$jz?stjx2{?02(Ycs9zj&fINvu@C%+uNEG5rc|E`{_KEvPxd
KI6o+c1Aq>|^iMy}bj~Fe9_MLL<9}N1l?ZJL)`9+(Ns_X5we*yQq3Dp
""")

DTYPES = _bytes("""
c-qaF%}*Og7{&(-
#@P@I1OlN+`rSAQF}8QTwgZI3Aug%Y0!v6~3U!UWU^k1`uRV}JKY~<oK<XujUVCc(h4#`zE>(NzrKuFPQV*4SNqcEkwNh2}(4C
$2vNHx;jMQc&WDEKEJ<rU%yz`ogq^k)bj|Wvf?Whx_OPO4LMIFedaoS(JsU_lV=mztwH_id_Ww361(w|z!d95s@O6vS_UdyJiS
}5zK)JjNz2A^-H#h{jrPo@`DXrvM$uIt(q{ha`=nFiw{0ce_W8Lye*GBhV$7~GRdlyq%COR`}DJe!$}u4!rp=k-
Ea7%yejlA0aOXRrVVPAMQ@IH*8t&M?f`CaYMrO%9nRL1@dFaIXb#C-9EV9AR`~IIKWdja7*PbZ?pXt(6JW1-x2Rv$o$6(=P-
)hMyZlujO}?`1Mi0C#;;y`2r5g0vy9|T!9lg6Q8315uP*vtr(uN08bOZGZgTw10Wi^{Tznp6?lOGNN~~s^kVQ?fKvo;ngY%^0J
0=NKZdgk_?cb2luMWFRSlTTFa+o>1}$cYFh$CgFoYG58OBsjFJT)JF(EQUDI{h=&JoBUg$!XBR^U7Xxl-
6djF^ZBT%d@H79vg%mndQs!({~$4C1O@ShN{0nv5unQN|UE@e*MqDdQ@Jmlb%0VT`4<1)DK$GGZ`68Iu-
6A&e=?xQ1a`f$MB#CNw>5oVm?;b*7P2X8>j>=rs#;gMePApjixa3cSI9OpZ-SQA!Zrq?EKpnJ1JCrDQRv3M?>`QGIz{+xk;kq?
i!oC?;=V-
XfTr6r*8SQlP+AioR6T)Z1((ox(&YQW#jU5`mQ|3}aYUU}ZZP7ws0MNpPFeRxR2Zp}kFM?_hXWf%jDZM6$*6*C#_Q_l#CYekOK
odOhff-
SqqmdTA+*Q!8qzZ1kE$yp!vF<Ove?r@wsvJ~@8!vopI7MYh;hw@9V6{9<8AE#O34+y-CsktGsf<QDuy_M>sv03B$=4lr-DM4j}
`M0~Iw-^!!qG1gR)VPp8mqi(~+y=#Uxbe_3Y1_FurxqSpc4GqNn^Ka+wk~_my!~7y^9!$iC_p^H9-
$?xLY+m!!;UC(+zfp9Jh(s9ucx<qa{TKJS|5n-4%4_kgwXGa)HQu+@ND*aINQt<F>h-T=KvoW9W%+9MgYjPDeQ%8{{cM(SBJM-
~&H2m!|M^EAi}Q~@M&}>f)A=Jbgf0-bFaFkluD$<WG|aUiqXEXyKK6fog!<q6z1Uoje{i4v<S{ZJnxgpGmx0>n?{!>-
G)1V+`;X=RI%2&svz+#PC)GZGFFM0zF<RnDv}gZy+q+VKcQ234)Z;JJ<-
hGdAZMmZt_Q#U@L_;_(W;T_u${{ufxLV!Q6R*xKU$owJ%5})p{)VPTxwY@<&6nwEls}6rSjQC+`q>n2uguaBqD{wvMh<=P)Lr&
!huLA7?q=<D8*!1l%z;B79lCM`;+&5Mh>5uvcYT>m7LD;u)Qid|2>#jI|slXM)^k*+G(KVA<iMLkAX}!qg^IPp5q+EIvCCa2ge
=&dAW0xYGdTr-H4mrc&+mqWVPS$+90oW-e0VCs)f^rc&+o+VYLr=t;lPgw*;%5^>AA0-
>>%(uMO{Ey$3k0yodGj+Q=T(D{$H<uXWyW+<JL!jMqBvCofx92l?8lDlF%<!ipbOiK{Bhc@MDS*;Za$Ra(v_&WayZiK}YM*=bp
E?hr4oDlTVJ_3|?d-<o-`v)7$qw2DK#eHWfcy50Sip6xnoE4#VZW6kvS&$i0l;wJy%LtR~4GucGaJaj|TZGN79_8;Whdny
""")

OBJECTS = _bytes("""
c-qBQ%X8aA7+*WF<193f@(2wO-rz#(_!U2zwhm5f7X+=NP%woc6nSF{6w9Bqc9PCyrZXL<X;1tG+<M?I;8<pQWtb^5FdVpX;sn
PY*<GoQC6k6W2Q(u~T7AFAe*5hwSEQj~gd!0%a7>`1NVT+v-
XXI!m8!AU*G8#0hOT&yYr$<m(Q1GJS`g5v$q+H6O?AV@ibYo2x=~YFs-><IN-SkVrwzrXDkT_#(S5=xY1*cxbdnf`qS5LI<F;9
(S|>2<Kyb-0Rl4j9Vh9QSIE1T1?5efeFd_vhM3y8Z1-mdR1-
gK5YMN;nM5DUdwDBdYMl4c0r)w0$6USwElEM)g#&#S0VSF1V1Q%87Fe%tK;HXXEDH)!wvV<XnsB7>{gZXO=Hyr&0JlhbuQ?BlF
T=$s6I8EVs8D0=r&1`-
JFFIIvK8xmh%OIQHY0U`QB)r6E0~B87w2bi;{`2ZhLHpV^yuQcz#xAq?rVMY1AzQynz|ApUW)B#SO93gk18;ZX9T`qkLoBLBw^
{^Fx?yYFK#C<kRt@u)q@!yDX5F{WBZjym*{-
ROkODi9lp!VJ4Ry<GQ%JiDYZFUX4gIRhbB>idp^6iMVXk_Fr`HLimR=(@$aEnqLrx^#CKU3TqVS5KdQ(v_8^LgD1?HoC5~K^KW
jG^Z^(KY0w?-
cn?hj&KVkS^17w$WwqKq^r&9LBMc1JP1TQ2<VM3)y_vK=VOuqYT;w<xjUoTg}Ijc7I|O@4#nyfC5Oy#pmT35+%Y<sG;n!+X_H7
phv8x&`lhlzZbCq{ex%+?()0gF!!(;bIpq$xsowreu@CQZ>kK?|uie@I%|oH7xUNbm5~FxE#H>OK!l&Vy323-
|&ejld7Or;ZrGKyNPHw*?xp8o=vgnjAHm~8$OS^m=!4~?pEOoDbVhMBEy&MSVbC%eE;LEsrzj1{H*NTN2btXuaCsmOlw`GN{3i
BQ!Et=zIO7+M?x6+>-
X#2B0u*xGL5o(M%;#?u=1=o*GZF>imAu(l1Xy|g$?+VuTAiw1}0IVXMnG~Sff&L{xCT(bV?1vJ#^3fag3K=_@N%g&{<DcpN*G_
rw(BNp=$+xatGfmg@56akpmo@_Bu$EiaGQ@>L(Acj~2Lo=XN1>u>Lrj@9FpULH2PCq%c>$_ig?1!Sy$Tl6xCKOx@F<6}?s}#va
i~JeSU=bGckPo6pR})46PFE*{V4bBR<Yo664R6S-
tOlgwthOY8Pe*Q3lwRJaUqvpt{vy<}p*x&MF20J^UMOnHzOhS7fA$4}C~iKjgz_xec&I)|U9e<MzMc;pZoYyf_Ee-
)2;;J=2DZ}0whEdMfjcby;GU%g)JZ+>jjkL|C&aj)(O@>jbb++P+m9`Mh7;D0aJiWCl?cu?L$Cws_I-
?bccuA8nV!|~4`x`Ul(=gScaJD5=s@5KHC=}NH%
""")

TRAINING = _bytes("""
c-pO2U2NM_6n2s}O~XikwzXYh<8MGpw>1Che@0jnn71xV88d~-IL>YC;WRn+b+-
;hnl!Cb03jg|;t2_f7bG5#cmRY1Lh#s4f;S|d;0Xz7+7mB(;9fgRZC71K!j)`G_W92D-
E;5#j`OUii(z~|X2<Af1{pyWC3zi9lmsk<YHuppOn_OojjQfDFhQ=H04miIQotpORYgG}maA);|EyX<Dk`0nMeGOnSOGji&P!r
1A-ODJ=n`?2P=t6L%ZldbRaDevrNm>jrd3sbJ?e+<V36w}2#rJvWdvRm;?F8o0WX;^{m{d?NK6=foQFKcnhw3J8-
xEG%djriy$KJoZq~I4`x+8e@i2x!0s1&Hb*3l_8uUwqNAgN$o(K#`y{rqvpn<;*`|0g~i9Lv6r~t!y9Y(lb63kZ+7HEOsknw$#
qt$~)>hP!`d>yG8sRbNnU7Ds94NSF$<%)a-
sc@tYkD2Auuz(RfUWX@wEK`RkgN8Z{qZ&MAQx}D!rn;wzy0I}+)iW5LEr3}nbh*Y0>tz_T!D8^7WE5q*Rg`09QI4A_LKr3r5a#
^bDR>PaV#^YTsF@|!$`UuTB+M*H45<Q4>a42{Q$fitJpt3E^cjovSqyUpn3wEwlaMw;Pc+xyd3wv3kQXqVEWm<f*Or2;3CT4fF
VfpfCgc<bwg9Jfo!du3Yl13N__A8nYZ{zcfyFwU4RUVsMNuK2OXrJce!cVgU1MR2WPLR_mrMV>MaRut`u0D!ejB<mz6k|myCIT
eDL22c@!lWdcc+c~=KkhONE9~UWtK74MW|?HRVcyv21n0ZMYwEi0(hlid|s`pNDw8suxKoSDAcg73PlA0*Wd!=O-
Wu|C8uc(%f{PR8-
~19T|*^UUgU;o2olMZ6jb7E3SMg%r_PwQ2CuKcN|06v>4L6@@@$W9$@BB@Ph>9i%I|6k!^~vM5<*07MZkP>duKCohci6bh*0*g
Z~uOcE+D;jXCGx!+w4s{-~~l4uT@A*vYA*r0+MkmAbkn`qKogouYdt2-4amTz^F>iEt{EXYvRqJ$QUb#YPdf4=OMaC-ur3@F!M
H7o(N|%(;W!-e(u(HZ-4dUJXLTQi#nzB?V(`St{{@lOt!6Hdj8-
Kl>1cf^j+$AU3+k!uyaSVnb}UtzsxXK)0F?>#ZSLzgFn_O|IMwfIeJkIM=uP1&_?~^oz%ZNcx{?ql>gh$xP><O6P@sPSpVezQG
d$+W#Nvy4gOT8{P${KS#iCyH-DeSfm+7fk^jW}l>L`a%IEj?zava^+klPfYe<!e178v7-yScQvYF6-
6ce6|CMT2eR4SH8hU1A;Disb#lCf|!8VM)Dsj1jhA{I%cj5aZ|`o>#9q9bUibWyP_oz@1{zeBn6Kh}x1HlSe}a(@@ITg!7Mu{M
!WTax#!Np^HDXC7-
K7_j9T>}Ga0ASc}F;sG1{qi)90JDgan3)`_HUI#Yf#9B|V9s8jZ8+Br>&S%FS=y70UPOR0n?AVW;*!Y8M9`QM_2`AR-
7>@Zmu}LS^dfFZH?R8*NPOSB;_StzY*j@Ih^#~oY?=3&G$KlSiUhlDcR^T~qF-7}R^O(<X{N|J3=<h8v-
V8AR^18hyCSb&yvHt?PGF<N
""")

MODULE = _bytes("""
c-o~_OLN;)6qfDSF-n_PX+zUCJPS@}9NTdmr;h|oF%Oj_bs7+XBCciGS45V4q^pE7;~AJv+As`%0ob!+!w&udGo4|&VA!!@#g-
X1+^eg^lHDYbYR1;+-tRl-d^+E`_No-
?6NF?^=(&c4Q32U1*0;2o8X_p&+BC|gL180weI8YbMNw(fOgF8XYiLedwM>F^Q?tc24P4D6Ix<8MCcl748=@(hB_lRP=w<_AyY
c{iR$9nLO^s-_1AT3XdmyFi*6VB~(T0Bc99uChQ)$s9-
61sa9zbz40!dY&&$>Z$Q&B{^BEl25LEM3X3Y?HndGV0CxsB|a(y}!LTh^unCsoxl3{54vWjf-DUDIr>c3oE~dvLM>L-
J6F$VtPP?TyH1*q-
hvb=NS$7#Lla2ib1jvIE3Z9`Q+eyk|?<)(KWvfQAF7J=hufd@l?c+vtv?sE8I_gE0^Ilsp;)cEp|aw#Vg(M{b8wp7WsR<q-
yT2qKzNqi?|vbiv!5kWY8*c2Yg<A)evN3=7pB4SUvuJ;$5b1GAjHgwK1p7q|_4W5LBXyqJ<BbSVQb_4>}Bo<p{HgWn)U4L8|_s
T7XwV(O`vQ*we*w>7<i30(5|ic56E5fxiw-
l=tbD8lps5b8X~vX!lz2<cQx?x#T=ibM?!W;jJGQ)y(4FN%=yYtG6sdRJR6<fJHp*_)CeMWpCG$V*Wvau4Rd^i&rJ%vYee>pd*
ohszbXBGV}qsycGuDxStPEuO(VY!<HJoD?Cj=!M&XCHD0S5A`a6QUzY)p|0PD*DFwVF&(Eja1zt$cykBds=(X$qz8~NH}(xYx{
SG1-@)9A%a~hj1#?fWVs4n5m|LTQxdGNN@9-_mJGhQ%)86$)oQ`E(L&UXdC*PBz@(H?TxumlwOA)u~YkI%8y@<}}7GiTM-
a;l8VS_gKgEoA)*WlYs*hgHLvI8Gi0QthIzA&{TtmX^Td|`E8Si={FePOyU>=R$urZ3E3!kTW?b*t%BsXuvf?e4enxFE34>Vb#
qm{8b1RMT`In}{e|>^QT`aw*q!w*HqZ%X0tt*Y9`PYh#~-
bB_!2o!q`*>2abr%qBfb%ca?4q~9pySpiGi@Mn~!h#p$Nh_JL@K=lsMEOywIOIMDQckeQELJW=7uygH?vuwT-ht@DCEQWs7W-
{f{<;N)CLNWgH!`4?nu?l`!nfjEaOde6e)o=yba;bRi3cjBzEwbFvAAb9q9T9zp<{k=kVBdC+_5No?mi@sujrF7ZKOy8g2K1ym
noa*3=%0C0t?0FKDg8f-$;=h9*-UXRH(SUq6y`H?xrKaoK9gU_7qi9rOd+2w7K(*g&!zt~`@T!jI#OPh5mxMeox$-
P?y0={e^56&IDlgz=6YN>XyChp1czum6y!lLNYCVU#|aL?NGMJvA@mMlH$CX$!4UmnLg<>EZf?+pVJ`cX47<LY8}!gni2G}Rd%
(L3wss<{IVl`rx>YHWxU^@{*z`U#*>xX?^84TZ0_Cxvejzr%pZVz<PjF7s!*lGvs1Whz
""")

LEGACY = _bytes("""
c-
n1GyH3L}6wRwG7+T6}U}FqR1+7}>L<iKx;?c5XK~YGo#>k3u9j5}MN?9sVzJY;}U*i*y7`UNAVyNYNB_E%A&pCzlO2qfu@ayp5
<L01MSeKtR_8Azi*E9?xRZ`1P3V+H}#$^H~61+P82(GnYK1(7VBw)RG1VR0jGC$+bECYK6j_Xwr%wnlDRH)_I_~MC%Ds?=k+#!
<*)Too^f0`zuk6?ycsxWT(x#l7xzGC+|7m=@7l1b%H+XO7v^=jpEWCjxk_Hu*_g$(rV5+vYw4dnDY{ocvhaktw(?RI)l`SlT|I
r^wxX{e2;L926Eqvjme7a_(KEYz4bBiAZoibWSZ)C9=U7&bI)j-
mc*KMgQfBStH+9j}zyikA}25w)l_hwV~gXAzg1b~WscVZV%i2ga&tGiX(f|ED;|Ho%KjV7(8100WtKB>
""")

SYSTEM = _bytes("""
c-jl_W@cev;NW1u00Im`42ea_8JT6N`YDMeiFyUuIc`pT3{fbcfhoBlzc{mktGKebBsG_-
kRbwS9z#h{X=)*3YavrmA+uh9H#>*M|F3o`KnV~Iz-gyA5W?)#OUp0HO)QBoOD!tS%+GUk5=OHc3=BbrZ-
0NMnGvX+5wGD=4CV;Ki%as064O)T6LT`t^Kw)3O5B``v6)W@n3;eaU|(MNk_l)96J7@hGT6f%kW^WcnqQQXTIA+rO^&@Vkds+b
l9LK@L#yp$Nj9J@Y<S(k&tMC813Y9c$#;P<7s&35^U^~J`(KX12oV9GB&A=RT9gTlfvUt3pgZC-
Q{0^NNOX#Uk)?r!iJ66&xw*NSk)@Hbp@E5kfq|K^vALOnk-4#%g^`J&xurSCmA`!sifRDep#gR!BgnCEcOs`x0SuR;=L2-
z$O%v!MP~_;ZnPAQZU}NBl0q@$BC;VEDHq)w<b)uIVonev17-
q5*Nz;Q{3zP5A!*0q2jn1@L$#ZUfk5O3c(bwTz>*5HE?g%Y8a<g2LjPcb&_I3cAiA3c!iSUstZWcHY+&^ewEzXf2^I
""")

SPARSE = _bytes("""
c-o~^&rj1(9Dm(LSBs8;2!e`<r<v$z2kVBSB-8X#6Gw^3;-
x9wb1Rm0uYJS7iNuV^)srU^FP^*`{tWLX9z1#SU+}$l8||AL3NPtiwtYW8+VA)CTGf&%00aRHtt^-Ure`(nJ-
A#qv6*kbcGOA+yo{~GgoRyFl{Y%rc6`zB;C9D$>W1GoJs%nvwtUwU5$Kiq(6dd)J}|NEwnU==vEi8eZU>8qt7VC7uPj7cu8R^~
l+;lwH$o>AF!l-
}n#kp9X+q(XO0xkGA40@uZmY2s{wAVyjUy!z5^71ZTkQ_Iq;VLDn;OtKjXOe<;dc4hvRuc37B%XN&%HYIVEw6W5vNz~>L`QJl#
a4ZBHHW=sg7&nfzouKB%_&Tpl~%%=%QKraqYNCN#-z`*U|MJe9Jx{um$@6Vi(=e(am=l-
8w=`I=Y>&YH4BXq_u7nQhHTKHf}!Bxcn>E+cmMV2R)zM$8i5-%KP>A_qWt5y+-pcg3>8(?-
?7UmyOmgY+<#s!chOyQdX&fjW_65f=DFB8khzf0|VRp7`n74YUSa1bo<M(F?JyJ(0%lCfhQ{bSPvQSIF^cKNv%A%fPp?QbzuLv
1F58NhJ*FE16i$<!TI$MH>mc`&ZjR#5TwRxPenQ~7^w?A{}qv{fBV>Yad!WgK;d)%gIkZCCWc*CEBXI4BNY`{mdeG#iXyKmC8=
0gTb0UdC8eM!1xZm>$u1YAU`q8;=5vnt$OSGrYIfi=8qMsGbM_o%(a`|T$B-
u+7!_ugBpRZ{cyJP6OmbPCXb`4jJnthsg8;Jd=oDvS@VO*lvcqDdQy9m7V6ifbjn2?i3_F_w?9{U0Xls|^_Z$KLedwwh&)@5hX
!8C5DKPtFBHYUp{mAq5Z3UjB!|&ngJHdw-A*c^){{X&Pwtx
""")
