# SPDX-License-Identifier: Apache-2.0
# Makes manual pages from the help texts of the program and its commands. The program's help has a summary of each command, which
# becomes the NAME section of its page. Usage: -D help2man=PROGRAM -D program=PATH -D folder=FOLDER.
cmake_minimum_required(VERSION 3.25)
file(REMOVE_RECURSE ${folder})

# Writes a page, after changing the help to what help2man reads: "or:" before further usages, no summaries after usages, and a
# dollar before examples.
function(write_page page summary)
  execute_process(COMMAND ${program} ${ARGN} --help OUTPUT_VARIABLE help COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX REPLACE "\n       patchfold " "\n  or:  patchfold " help "${help}")
  string(REGEX REPLACE "(\n  or:|Usage:)( +patchfold [^\n]*[^ \n])  +[^\n]+" "\\1\\2" help "${help}")
  string(REGEX REPLACE "\nExample: " "\nExamples:\n  " help "${help}")
  string(REGEX REPLACE "\n +patchfold " "\n  $ patchfold " help "${help}")
  set(text ${folder}/${page}.txt)
  file(WRITE ${text} "${help}${more}")
  execute_process(COMMAND ${help2man} --no-info "--name=${summary}" "--version-string=${page} ${version}" "--help-option='${text}'"
                          -o ${folder}/${page}.1 cat COMMAND_ERROR_IS_FATAL ANY)
  file(REMOVE ${text})
endfunction()

execute_process(COMMAND ${program} --version OUTPUT_VARIABLE version COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCH "[0-9.]+" version "${version}")
execute_process(COMMAND ${program} --help OUTPUT_VARIABLE help COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "patchfold [a-z]+ [^\n]*  [^\n]+" lines "${help}")
foreach(line IN LISTS lines)
  if(line MATCHES "^patchfold ([a-z]+) .*  ([^ ].*)$")
    write_page(patchfold-${CMAKE_MATCH_1} "${CMAKE_MATCH_2}" ${CMAKE_MATCH_1})
    string(APPEND commands "  patchfold-${CMAKE_MATCH_1}(1)  ${CMAKE_MATCH_2}\n")
  endif()
endforeach()
set(more "\n*Commands*\n\n${commands}")
write_page(patchfold "cut arrays and pictures into patches, blocks and tiles, and put them back")
