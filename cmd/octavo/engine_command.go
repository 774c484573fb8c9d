package main

import "github.com/octavo-docs/octavo/cmd/engine/embedded/command"

// EngineCmd groups the commands that run the embedded engines.
type EngineCmd = command.Engine
