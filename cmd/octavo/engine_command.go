package main

import "github.com/octavo-docs/octavo/cmd/engine/embedded/command"

// EngineCmd groups the commands behind the embedded engines.
type EngineCmd = command.Engine
