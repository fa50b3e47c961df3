-- What CPU time did all threads of the nodes take, and what did their JIT compilers take of it?
SELECT
  sum(cpu_ns) AS cpu_ns,
  sum(CASE WHEN thread LIKE 'C1 CompilerThre%' OR thread LIKE 'C2 CompilerThre%' OR thread LIKE 'JVMCI CompilerT%'
    THEN cpu_ns ELSE 0 END) AS compiler_ns
FROM threads
WHERE process = 'server' AND $filter
