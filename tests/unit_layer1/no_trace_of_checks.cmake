# Compares the PTX of three builds of every_call.cu: a plain build must hold no report, print or timer, the others must.
function(count_lines file pattern result)
  file(STRINGS ${file} lines REGEX "${pattern}")
  list(LENGTH lines found)
  set(${result} ${found} PARENT_SCOPE)
endfunction()

count_lines(${PLAIN} "report|globaltimer|vprintf" in_plain)
count_lines(${PLAIN} "mbarrier" plain_barriers)
count_lines(${CHECKED} "call.*(vprintf|report)" in_checked)
count_lines(${LIMITED} "globaltimer" in_limited)
message(STATUS "lines of checks and limits: plain ${in_plain}, checked ${in_checked}, limited ${in_limited}; "
               "${plain_barriers} lines on barriers in the plain build")
if(in_plain OR NOT in_checked OR NOT in_limited OR NOT plain_barriers)
  message(FATAL_ERROR "a plain build must hold none, the other builds some")
endif()
