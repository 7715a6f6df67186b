package memory

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"github.com/radish-sql/radish/cmd/radish-bench/internal/database"
)

// memoryChild, in the environment, makes the test's program run the statement of that number under memoryTestLimit and nothing else.
const memoryChild = "RADISH_MEMORY_STATEMENT"

const memoryTestLimit = 100_000_000

func TestMain(m *testing.M) {
	if text := os.Getenv(memoryChild); text != "" {
		i, err := strconv.Atoi(text)
		if err != nil || i < 0 || i >= len(memoryCases) {
			fmt.Fprintf(os.Stderr, "%s=%q\n", memoryChild, text)
			os.Exit(2)
		}
		fmt.Println(runMemoryCase(context.Background(), &memoryCases[i], memoryTestLimit))
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// A statement stays within its memory limit and the slack, all that the process holds counted, or ends with an error of memory.
func TestMemoryLimits(t *testing.T) {
	if database.PeakRSS() == 0 {
		t.Skip("the system does not tell the peak of resident memory")
	}
	if testing.Short() {
		t.Skip("the race detector needs memory of its own")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	for i, c := range memoryCases {
		if !c.quick {
			continue
		}
		command := exec.Command(self)
		command.Env = append(os.Environ(), memoryChild+"="+strconv.Itoa(i))
		m, err := measureMemory(command)
		switch {
		case err != nil || m.outcome == "failed":
			t.Errorf("%s: %s, error %v", c.name, m.outcome, err)
		case m.peak > memoryTestLimit+memorySlack(memoryTestLimit):
			t.Errorf("%s: %d MB were resident, %s", c.name, m.peak/1_000_000, m.outcome)
		case m.outcome == "refused":
			refused++
		}
	}
	if refused == 0 {
		t.Error("no statement was refused: the limit did nothing")
	}
}
