package content

// CheckMergeRules exports checkMergeRules to tests.
var CheckMergeRules = checkMergeRules
