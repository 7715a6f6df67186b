//go:build !unix

package engine

import "time"

func processorTime() time.Duration { return 0 }
