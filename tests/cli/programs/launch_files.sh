#!/bin/sh
# SPDX-FileCopyrightText: The sluice authors
# SPDX-License-Identifier: Apache-2.0
#
# launch_files.sh TOOL FOLDER: files that are no PTX, no launch description or no data, and places that cannot be read or
# written; for each the tool's status and all that it says.
tool=$1 folder=$2
ptx=$folder/scale.ptx
cp "$folder/scale.json" spec.json

# try NAME [PTX [SPEC]]
try() {
  echo "== $1"
  "$tool" run "${2:-$ptx}" --launch "${3:-spec.json}" 2>&1
  echo "status $?"
}
# with OLD NEW: spec.json with one text replaced, in new.json.
with() { python3 -c 'import sys; t = open("spec.json").read(); assert sys.argv[1] in t; open("new.json", "w").write(t.replace(sys.argv[1], sys.argv[2], 1))' "$@"; }

echo "# what is given as PTX"
printf '' > empty.ptx && try empty empty.ptx
printf ' \n\n' > blank.ptx && try blank blank.ptx
gzip -nc "$ptx" > scale.ptx.gz && try gzip scale.ptx.gz
printf '\177ELF\002\001\001\063\007\000\000\000\000\000\000\000\002\000\276\000' > kernel.cubin && try cubin kernel.cubin
head -c 64 "$tool" > program && try "another ELF file" program
printf '\357\273\277' | cat - "$ptx" > bom.ptx && try "byte order mark" bom.ptx
iconv -f UTF-8 -t UTF-16 "$ptx" > utf16.ptx && try UTF-16 utf16.ptx
tr '\n' '\r' < "$ptx" > cr.ptx && try "CR alone" cr.ptx
sed 's/$/\r/' "$ptx" > crlf.ptx && try "CR LF, which is fine" crlf.ptx
printf '.version 8.0\n\0\n.target sm_90a\n' > zero.ptx && try "zero bytes" zero.ptx
printf 'extern "C" __global__ void scale(float* x);\n' > scale.cu && try "another text" scale.cu
try folder .
try "no such file" absent.ptx
try "endless file" /dev/zero
echo "== a pipe, which is fine"
"$tool" run /dev/stdin --launch spec.json < "$ptx" 2>&1
echo "status $?"

echo "# what the PTX says of itself"
sed 's/^.version.*/.version 9.9/' "$ptx" > minor.ptx && try "newer minor version" minor.ptx
sed 's/^.version.*/.version 10.0/' "$ptx" > major.ptx && try "newer major version" major.ptx
sed 's/^.target.*/.target sm_100a/' "$ptx" > sm100a.ptx && try "later device" sm100a.ptx
sed 's/^.target.*/.target sm_70/' "$ptx" > sm70.ptx && try "earlier device, which is fine" sm70.ptx
sed 's/^.address_size.*/.address_size 32/' "$ptx" > address32.ptx && try "addresses of 32 bits" address32.ptx
sed 's/mul.f32/mul.f33/' "$ptx" > instruction.ptx && try "no such instruction" instruction.ptx
sed 's/ret;/call missing; ret;/; s/^.visible/.extern .func missing;\n&/' "$ptx" > undefined.ptx && try "undefined function" undefined.ptx

echo "# launch descriptions and their files"
try folder "" .
try "endless file" "" /dev/zero
printf '{"grid": 2,\n "grid": 3}' > twice.json && try "member twice" "" twice.json
with '"block": 8' '"block": 2048' && try "too many threads" "" new.json
with '"grid": 2' '"grid": 3, "cluster": 2' && try "grid that clusters do not divide" "" new.json
with '"grid": 2' '"shared": 300000' && try "too much shared memory" "" new.json
with '{"u32": 12}' '{"u64": 12}' && try "argument of another size" "" new.json
with '"grid": 2' '"kernel": "skale"' && try "no such kernel" "" new.json
with '{"values": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]}' '{"file": "."}' && try "folder as data" "" new.json
with '{"values": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]}' '{"file": "/dev/zero"}' && try "endless data" "" new.json
with '{"values": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]}' '{"file": "empty.ptx"}' && try "too little data" "" new.json
with '"shape": 12, "output"' '"shape": 100000000000, "output"' && try "more memory than the device has" "" new.json
with '"print"' '{"file": "/dev/full"}' && try "full device" "" new.json
with '"print"' '{"file": "absent/out.bin"}' && try "no such folder" "" new.json
with '"print"' '{"compare": "empty.ptx"}' && try "nothing to compare with" "" new.json
echo "== full stdout"
"$tool" run "$ptx" --launch spec.json 2>&1 > /dev/full
echo "status $?"
