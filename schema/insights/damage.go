package insights

import (
	"slices"
	"strings"
)

// damageCodes are the engine's error codes of files that are not as they were written. Their source is ClickHouse's
// ErrorCodes.cpp.
var damageCodes = []int32{
	32,  // ATTEMPT_TO_READ_AFTER_EOF
	33,  // CANNOT_READ_ALL_DATA
	40,  // CHECKSUM_DOESNT_MATCH
	74,  // CANNOT_READ_FROM_FILE_DESCRIPTOR
	107, // FILE_DOESNT_EXIST
	117, // INCORRECT_DATA
	226, // NO_FILE_IN_DATA_PART
	227, // UNEXPECTED_FILE_IN_DATA_PART
	228, // BAD_SIZE_OF_FILE_IN_DATA_PART
	246, // CORRUPTED_DATA
	271, // CANNOT_DECOMPRESS
	432, // UNKNOWN_CODEC
	740, // POTENTIALLY_BROKEN_DATA_PART
}

// IsDamage reports whether an exception of the engine means that its stored files are damaged. A connection between two
// servers that breaks has some of the same codes.
func IsDamage(code int32, message string) bool {
	return slices.Contains(damageCodes, code) && !strings.Contains(message, "receiving packet")
}
