"use strict";
// Python in colours.

const TOKENS = new RegExp([
  /(?<comment>#.*)/, /(?<string>[rbfRBF]{0,2}(?:"""[^]*?(?:"""|$)|'''[^]*?(?:'''|$)|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?))/,
  /(?<number>\b\d[\d_.]*(?:e[+-]?\d+)?j?\b)/, /(?<decorator>^[ \t]*@[\w.]+)/,
  /(?<keyword>\b(?:and|as|assert|async|await|break|class|continue|def|del|elif|else|except|finally|for|from|global|if|import|in|is|lambda|nonlocal|not|or|pass|raise|return|try|while|with|yield|None|True|False)\b)/,
].map((each) => each.source).join("|"), "gm");

const escaped = (text) => text.replace(/[&<>]/g, (c) => `&#${c.charCodeAt(0)};`);

function highlighted(code) {
  let html = "", end = 0;
  for (const match of code.matchAll(TOKENS)) {
    const [kind] = Object.entries(match.groups).find(([, text]) => text !== undefined);
    html += `${escaped(code.slice(end, match.index))}<span class="${kind}">${escaped(match[0])}</span>`;
    end = match.index + match[0].length;
  }
  return html + escaped(code.slice(end)) + "\n";
}
