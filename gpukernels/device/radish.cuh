// radish.cuh: what every generated kernel includes first. Self-contained and small: compiling it must cost next to nothing, since
// it is part of every query's first run.
#pragma once
#include "base.cuh"
#include "thread.cuh"
#include "atomic.cuh"
#include "warp.cuh"
#include "error.cuh"
