// Package supervise keeps child processes alive: it starts them, waits until they answer, pings them, restarts
// them with back-off, and stops them so that none outlives this process, however this process ends.
//
// It knows nothing of what a child does and imports nothing else of this module.
package supervise
