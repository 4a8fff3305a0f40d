# What IOHanalyzer's own code reads out of an export: iohanalyzer.R CHECKOUT FOLDER BUDGET CACHE
#
# The checkout's R files that read and compute are sourced, its C++ is compiled (into CACHE), and what its NAMESPACE
# imports is there. A function of a package that is not installed becomes a stub that raises an error, so a figure never
# comes from a stub. Prints a line for each figure: strategy, world, name, seed (or -), value.
given <- commandArgs(trailingOnly = TRUE)
checkout <- given[1]
folder <- given[2]
budget <- as.numeric(given[3])

absent <- c()
for (import in parseNamespaceFile(basename(checkout), dirname(checkout))$imports) {
  package <- import[[1]]
  installed <- requireNamespace(package, quietly = TRUE)
  if (!installed) absent <- union(absent, package)
  for (name in import[[2]]) local({
    wanted <- name
    owner <- package
    stub <- function(...) stop(owner, "::", wanted, " is a stub: ", owner, " is not installed")
    assign(name, if (installed) getExportedValue(package, name) else stub, envir = globalenv())
  })
}
for (name in c("IOHanalyzer.R", "readFiles.R", "DataSet.R", "DataSetList.R", "stats.R")) # not those that draw
  source(file.path(checkout, "R", name))
for (name in c("align.cc", "read.cc"))
  Rcpp::sourceCpp(file.path(checkout, "src", name), cacheDir = given[4], env = globalenv())
.onLoad()
message("stubs for the functions of: ", paste(absent, collapse = ", "))

print_figure <- function(data, name, seed, value) {
  cat(attr(data, "algId"), attr(data, "funcName"), name, seed, sprintf("%.17g", value), sep = "\t")
  cat("\n")
}

left <- c(0.5, 0.1, 0) # what is left of the way at 50, 90 and 100 %
many <- c(10^(-(1:50) / 25), 0) # the targets of AOCC
# IOHanalyzer keeps 15 digits of what is left, which may then be a little above the target that it reaches.
left <- left * (1 + 1e-12)
many <- many * (1 + 1e-12)

indexes <- unlist(lapply(scan_index_file(folder), read_index_file), recursive = FALSE)
all <- suppressWarnings(DataSetList(folder, verbose = FALSE))
for (index in seq_along(all)) {
  data <- all[[index]]
  summary <- get_RT_summary(data, left, budget)
  ert <- as.numeric(get_ERT(data, left)$ERT)
  for (place in 1:3) {
    way <- c("50%", "90%", "100%")[place]
    print_figure(data, paste("reached", way), "-", summary$runs[place])
    print_figure(data, paste("mean", way), "-", summary[["PAR-1"]][place])
    print_figure(data, paste("ert", way), "-", ert[place])
  }
  share <- ECDF(all[index], many)(seq(budget)) # by evaluations: the share of all runs' targets that are reached
  print_figure(data, "aocc", "-", mean(share))
  print_figure(data, "aocc_log", "-", sum(share[-budget] * diff(log(seq(budget)))) / log(budget))

  samples <- get_RT_sample(data, many, output = "long")
  seeds <- attr(data, "instance")
  for (run in seq_along(seeds)) {
    hits <- as.numeric(samples$RT[samples$run == run])
    areas <- ifelse(is.na(hits) | hits > budget, 0, (budget + 1 - hits) / budget)
    print_figure(data, "aocc", seeds[run], mean(areas))
    print_figure(data, "hit", seeds[run], hits[51])
    print_figure(data, "evaluations", seeds[run], indexes[[index]]$maxRT[run])
  }
}
