"""Functions of templates whose work threads share: parts of independent rows, heads or images."""

import re

SHARING = r"""
/* What does a part of some work, from first to last of n, and what has the threads of the pool do
   all parts; see there */
typedef void (*tg_part_type)(void *, int64_t, int64_t, int);
typedef void (*tg_share_type)(tg_part_type, void *, int64_t, int, int, int);
static tg_share_type tg_share;

/* The same for some parts, or for all as one where there is nothing to share; 0 threads: no pool */
static void tg_share_parts(tg_part_type f, void *given, int64_t n, int64_t parts, int64_t threads,
                           int products) {
    parts = TG_MIN(n, TG_MIN(MOST_PARTS, parts));
    if (n > 1 && (threads > 1 || (threads && products)))
        tg_share(f, given, n, (int)parts, (int)threads, products);
    else
        f(given, 0, n, 0);
}
"""

MOST_PARTS = 16
"""Into which the work of a template is cut: so many times it has its scratch memory."""

SHARING = SHARING.replace("MOST_PARTS", str(MOST_PARTS))


def shared(
    source: str, name: str, over: str, *, unit: int | str = 1, scratch: str = "",
    products: str = "0", parts: str = "4 * threads", rest: str = "alone", **moves: str,
) -> str:  # fmt: skip
    """The C of `name`_shared_real, which has threads share what `name`_real of `source` does.

    It has the same parameters, and the number of threads. Parts of `over`, a parameter, are
    independent of each other.

    Args:
        source: C in which `name`_real is defined
        unit: a part is a multiple of so many, a number or a parameter
        scratch: elements of its last parameter that a part needs for itself
        products: in C, whether it calls a BLAS
        parts: into how many it is cut at most
        rest: whether what is left after the last whole unit is "alone", or "joined" to that
        moves: for other parameters how far they move with `over`: y="n * inner"
    """
    kind, parameters = declared(source, name)
    names = [re.findall(r"\w+", x)[-1] for x in parameters]
    assert over in names and not moves.keys() - set(names)
    fields = "".join(f"    {x.replace('restrict ', '')};\n" for x in parameters)

    def of(text: str) -> str:
        return re.sub(r"[A-Za-z]\w*", lambda x: f"of->{x[0]}" if x[0] in names else x[0], text)

    given = []
    for x in names:
        if x == over:
            given.append("last - first")
        elif x in moves:
            given.append(f"of->{x} + first{_times(of(moves[x]))}")
        elif scratch and x == names[-1]:
            given.append(f"of->{x} + part{_times(of(scratch))}")
        else:
            given.append(f"of->{x}")
    ranges = ""
    if unit != 1:
        size = of(str(unit))
        end = f"TG_MIN(of->{over}, last * {size})"
        if rest == "joined":
            end = f"last == of->{over} / {size} ? of->{over} : last * {size}"
        ranges = f"    first *= {size}, last = {end};\n"
    call, ends = f"{name}_real({', '.join(given)})", ""
    if kind == "int":
        fields += "    int failed;\n"
        names.append("0")
        call = f"if ({call}) __atomic_store_n(&of->failed, 1, __ATOMIC_RELAXED)"
        ends = "    return what.failed;\n"
    n = over
    if unit != 1:
        n = f"{over} / {unit}" if rest == "joined" else f"({over} + {unit} - 1) / {unit}"
    what = f"{name}_given_real what = {{{', '.join(names)}}};"
    shares = f"tg_share_parts({name}_part_real, &what, {n}, {parts}, threads, {products});"
    head = f"static {kind} {name}_shared_real({', '.join(parameters)}, int64_t threads) {{"
    return (
        f"typedef struct {{\n{fields}}} {name}_given_real;\n"
        f"static void {name}_part_real(void *given, int64_t first, int64_t last, int part) {{\n"
        f"    {name}_given_real *const of = ({name}_given_real *)given;\n"
        f"    (void)part;\n{ranges}{wrapped(call + ';')}}}\n"
        f"{wrapped(head, 0)}{wrapped(what)}"
        f"    {shares}\n{ends}}}\n"
    )


def _times(step: str) -> str:
    if step == "1":
        return ""
    return f" * {step}" if re.fullmatch(r"[\w>-]+", step) else f" * ({step})"


def declared(source: str, name: str) -> tuple[str, list[str]]:
    """What a function returns, and its parameters."""
    found = re.search(rf"static (?:inline )?(void|int) {name}_real\(([^)]*)\)", source)
    assert found is not None, name
    return found[1], [" ".join(x.split()) for x in found[2].split(",")]


def wrapped(text: str, indent: int = 4) -> str:
    """A statement as lines of up to 96 characters."""
    lines, line = [], " " * indent
    for word in text.split(" "):
        if len(line) + len(word) > 95:
            lines.append(line)
            line = " " * (indent + 8)
        line += word if line.isspace() or not line else f" {word}"
    return "\n".join([*lines, line]) + "\n"
