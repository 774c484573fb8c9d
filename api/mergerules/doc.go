// Package mergerules has the merge rules of organizations and spaces as requests send them: their type, their checks, and how
// they are stored. Organizations and spaces are of different domains, which both import it.
package mergerules
