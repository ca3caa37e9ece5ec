# SPDX-FileCopyrightText: The sluice authors
# SPDX-License-Identifier: Apache-2.0
"""Gives the functions, variables and members that a CUDA source declares other names, line by line, so that nothing can be
told from names. A name counts as declared where an identifier or a type stands before it and `= ; , ) [ { ( :` after it."""
import re

kToken = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'|[A-Za-z_]\w*|[0-9][\w.]*|->|::|\s+|.', re.S)
kWord = re.compile(r"[A-Za-z_]\w*$")
kNoType = set("""for while switch catch alignas return else case goto new delete sizeof alignof using namespace typedef define ifdef ifndef if include pragma
operator public private protected template typename do volatile struct class enum union and or not throw""".split())
kTypes = set("""int unsigned char short long float double bool void auto size_t uint2 uint4 float4 CUtensorMap uint8_t uint16_t
uint32_t uint64_t int32_t int64_t __half half __nv_bfloat16""".split())
kKept = set("main x y z w".split())


def renamed(text):
    """The text with new names, and how many there are."""
    tokens = kToken.findall(text)
    code = [t for t in tokens if not t.isspace() and not t.startswith(("//", "/*"))]
    names = declared(code)
    # A name behind a dot that no struct here declares belongs to somebody else's type.
    foreign = {b for a, b in zip(code, code[1:]) if a in (".", "->", "::") and kWord.match(b)} - members(code)
    fresh = {}
    for name in sorted(names - foreign - kKept):
        fresh[name] = f"q{len(fresh)}_"
    return "".join(fresh.get(t, t) for t in tokens), len(fresh)


def declared(code):
    names = set()
    for i in range(2, len(code) - 1):
        before, name, after = code[i - 1], code[i], code[i + 1]
        if not kWord.match(name) or name.startswith("__") or name in kNoType or name in kTypes or after not in ("=", ";", ",", ")", "[", "{", "(", ":"):
            continue
        is_type = bool(kWord.match(before)) and before not in kNoType or before == ">" and after in ("=", ";", "[", "{", ",")
        is_pointer = before in ("*", "&") and (code[i - 2] in kTypes or code[i - 2] == "const")
        is_kernel = before == ")" and after == "(" and "__launch_bounds__" in code[max(0, i - 6) : i]
        if is_type or is_pointer or is_kernel:
            names.add(name)
    return names


def members(code):
    """Names declared inside the braces of a struct."""
    found, i = set(), 0
    while i < len(code):
        if code[i] == "struct" and "{" in code[i : i + 6]:
            start = code.index("{", i)
            depth, end = 0, start
            while True:
                depth += {"{": 1, "}": -1}.get(code[end], 0)
                if depth == 0:
                    break
                end += 1
            found |= declared(code[start:end])
            i = end
        i += 1
    return found
