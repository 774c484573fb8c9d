package content

// CheckMergeRules exports checkMergeRules to tests.
var CheckMergeRules = checkMergeRules

// GitWaits exports gitWaits to tests.
const GitWaits = gitWaits
