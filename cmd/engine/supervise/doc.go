// Package supervise keeps child processes alive. It starts them, waits until they answer, pings them, and restarts them
// with backoff. Children do not outlive this process, however it ends.
//
// It has no code for particular children. It must not import another package of this module.
package supervise
