package supervise

import (
	"os/exec"
	"runtime"
	"sync"
	"syscall"
)

// spawner starts all processes from one OS thread, which ends only in close.
//
// The kernel sends PDEATHSIG when the thread that created the child ends. The thread may end long before its process:
// the Go runtime ends a thread when a goroutine that is locked to the thread returns. So a child from another thread
// could be killed at any time.
type spawner struct {
	once  sync.Once
	queue chan spawnRequest
	quit  chan struct{}
}

type spawnRequest struct {
	cmd    *exec.Cmd
	result chan error
}

func newSpawner() *spawner {
	return &spawner{queue: make(chan spawnRequest), quit: make(chan struct{})}
}

// start runs cmd.Start on the spawner's thread. The child leads its own process group. So the terminal sends the signal
// of Ctrl-C only to this process, which then stops its children in the right order.
func (s *spawner) start(cmd *exec.Cmd, deathSignal syscall.Signal) error {
	s.once.Do(func() { go s.loop() })
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
	cmd.SysProcAttr.Pdeathsig = deathSignal
	request := spawnRequest{cmd: cmd, result: make(chan error, 1)}
	s.queue <- request
	return <-request.result
}

// close ends the thread. Call it once, after all children have exited, because ending the thread kills remaining
// children.
func (s *spawner) close() { close(s.quit) }

func (s *spawner) loop() {
	runtime.LockOSThread()
	for {
		select {
		case request := <-s.queue:
			request.result <- request.cmd.Start()
		case <-s.quit:
			return
		}
	}
}
