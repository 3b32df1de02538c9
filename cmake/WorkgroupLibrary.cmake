# workgroup_library([ALONE | APART] [LLVM | INTO objects] SOURCES file...)
#
# The sources of a folder of lib: an object library, named as the folder
# (WorkgroupTransformsCopies), whose objects are part of all that links `objects`,
# by default WorkgroupObjects. What it may use is not said here but in
# tools/setup/layers.toml, from which the library has its dependencies, and which
# tools/setup/layers.py holds each include to. A folder of the emulator, which
# knows LLVM and nothing of MLIR, is compiled with -O3, and with no header that was
# not, which makes it a tenth faster; what its classes ask of each other is inlined,
# which g++ does with what a library exports only if it is told that nobody replaces
# it. Of a folder that is ALONE, each file is always compiled by itself; one that is
# APART is never compiled with others, as the tests link it alone.
set(WORKGROUP_LAYERS ${PROJECT_SOURCE_DIR}/tools/setup/layers.toml)
set_property(
  DIRECTORY ${PROJECT_SOURCE_DIR}
  APPEND
  PROPERTY CMAKE_CONFIGURE_DEPENDS ${WORKGROUP_LAYERS})

function(workgroup_library)
  cmake_parse_arguments(PARSE_ARGV 0 ARG "ALONE;APART;LLVM" "INTO" "SOURCES")
  file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR}/lib
       ${CMAKE_CURRENT_SOURCE_DIR})
  string(REPLACE "/" "" name "Workgroup${folder}")
  workgroup_find_uses(${folder} uses)
  if(folder IN_LIST WORKGROUP_COVERAGE)
    set(ARG_APART TRUE) # compiled with options of its own
  endif()
  if(CMAKE_DISABLE_PRECOMPILE_HEADERS
     AND NOT ARG_LLVM
     OR (CMAKE_UNITY_BUILD AND NOT (ARG_LLVM OR ARG_INTO OR ARG_APART)))
    # A unit costs what its headers do, even precompiled ones: units span folders.
    list(TRANSFORM ARG_SOURCES PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
    target_sources(WorkgroupObjects PRIVATE ${ARG_SOURCES})
    if(CMAKE_DISABLE_PRECOMPILE_HEADERS)
      # Without one they cost more than all else: there are three units.
      set(group Others)
      if(folder MATCHES "^(Analysis|Transforms)/")
        set(group ${CMAKE_MATCH_1})
      endif()
      set_source_files_properties(
        ${ARG_SOURCES} TARGET_DIRECTORY WorkgroupObjects
        PROPERTIES UNITY_GROUP ${group})
      set_target_properties(WorkgroupObjects PROPERTIES UNITY_BUILD_MODE GROUP)
    endif()
    return()
  endif()
  add_library(${name} OBJECT ${ARG_SOURCES})
  add_dependencies(${name} WorkgroupDialectIncGen WorkgroupPassIncGen)
  target_link_libraries(${name} PRIVATE ${uses})
  set_target_properties(
    ${name} PROPERTIES POSITION_INDEPENDENT_CODE ON
                       UNITY_BUILD_BATCH_SIZE ${WORKGROUP_UNITY_FILES})
  if(ARG_ALONE)
    set_target_properties(${name} PROPERTIES UNITY_BUILD OFF)
  endif()
  if(ARG_LLVM)
    set(ARG_INTO EmulatorObjects)
    target_compile_options(
      ${name} PRIVATE ${WORKGROUP_COMPILE_OPTIONS}
                      -fno-semantic-interposition $<$<CONFIG:Release>:-O3>)
  else()
    # One precompiled header is read by all, which have to be compiled alike.
    target_compile_options(
      ${name} PRIVATE $<TARGET_PROPERTY:WorkgroupObjects,COMPILE_OPTIONS>)
    target_precompile_headers(${name} REUSE_FROM WorkgroupObjects)
  endif()
  if(folder IN_LIST WORKGROUP_COVERAGE)
    # What is inlined before it is counted belongs to no function.
    target_compile_options(${name} PRIVATE --coverage -fno-early-inlining)
  endif()
  if(NOT ARG_INTO)
    set(ARG_INTO WorkgroupObjects)
  endif()
  target_sources(${ARG_INTO} INTERFACE $<TARGET_OBJECTS:${name}>)
endfunction()

# Sets `result` to the libraries of the folders that layers.toml lets `folder`
# use.
function(workgroup_find_uses folder result)
  file(READ ${WORKGROUP_LAYERS} layers)
  if(NOT layers MATCHES "\n\\[\"lib/${folder}\"]\nrule = [^\n]*\nuses = \\[([^]]*)]")
    message(FATAL_ERROR "${WORKGROUP_LAYERS} has no row for lib/${folder}")
  endif()
  string(REGEX MATCHALL "lib/[A-Za-z/]*" uses "${CMAKE_MATCH_1}")
  list(TRANSFORM uses REPLACE "lib/|/" "")
  list(TRANSFORM uses PREPEND Workgroup)
  set(${result}
      ${uses}
      PARENT_SCOPE)
endfunction()
