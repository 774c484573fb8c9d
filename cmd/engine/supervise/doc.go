// Package supervise keeps child processes alive: it starts them, waits until they answer, pings them and restarts them
// with backoff. It stops them so that none outlives this process, however this process ends.
//
// It knows nothing about what a child does. It must not import any other package of this module.
package supervise
