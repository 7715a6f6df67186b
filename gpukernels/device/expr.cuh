// expr.cuh: what the expressions of a generated kernel call (exec/gpu, emit*.go). Include it behind radish.cuh.
#pragma once
#include "arith.cuh"
#include "decimal.cuh"
#include "error.cuh"
#include "like.cuh"
#include "lookup.cuh"
#include "string.cuh"
#include "temporal.cuh"
