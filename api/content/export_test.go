package content

// CheckMergeRules is what a merge asks first.
var CheckMergeRules = checkMergeRules

// GitWaits is why Git operations stay queued.
const GitWaits = gitWaits
