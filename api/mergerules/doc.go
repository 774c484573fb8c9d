// Package mergerules has the merge rules of organizations and spaces as requests send them: their types, their validation and
// their stored form. It is separate because organizations and spaces are in different domains, and both import it.
package mergerules
