package main

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	esbuild "github.com/evanw/esbuild/pkg/api"
)

// pageParts are the files of the dashboard's bundle. app.js is loaded first. more.js is loaded when one of its pages is
// opened. chunk.js has their common code. world.js is the map of countries. Package dashboard puts hashes into their
// names.
var pageParts = []string{"app.css", "app.js", "chunk.js", "more.js", "world.js"}

// page returns a function that writes a file of the dashboard's bundle.
func page(name string) func(*bytes.Buffer) error {
	return func(b *bytes.Buffer) error {
		files, err := pageFiles()
		b.Write(files[name])
		return err
	}
}

// pageFiles returns the files of the dashboard's bundle by their names. api/dashboard/package.json lists its libraries.
var pageFiles = sync.OnceValues(func() (map[string][]byte, error) {
	if _, err := os.Stat("api/dashboard/node_modules"); err != nil {
		return nil, errors.New("its libraries are missing (make dashboard)")
	}
	built, err := bundle(esbuild.BuildOptions{
		EntryPoints: []string{"api/dashboard/src/main.tsx"}, Format: esbuild.FormatESModule, Target: esbuild.ES2022,
		Outdir: "dist", EntryNames: "app", ChunkNames: "[name]", Splitting: true,
		JSX: esbuild.JSXAutomatic, JSXImportSource: "preact",
		Banner: map[string]string{"js": "// With Preact and its signals, (c) Jason Miller and others, MIT."},
	})
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for _, file := range built {
		name := filepath.Base(file.Path)
		files[name] = file.Contents
	}
	if names := slices.Sorted(maps.Keys(files)); !slices.Equal(names, pageParts) {
		return nil, fmt.Errorf("the bundle has the files %v, want %v", names, pageParts)
	}
	return files, nil
})
