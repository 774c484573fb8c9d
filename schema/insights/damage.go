package insights

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// damageCodes has the engine's error codes for files that have changed since they were written. The codes are from
// ClickHouse's ErrorCodes.cpp.
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

// IsDamage reports whether an exception of the engine means that its stored files are damaged. IsDamage also checks the
// message, because some errors of a connection between two servers have the same codes.
func IsDamage(code int32, message string) bool {
	if code == codeStandard {
		return strings.Contains(message, "filesystem error") && partName.MatchString(message)
	}
	return slices.Contains(damageCodes, code) && !strings.Contains(message, "receiving packet")
}

// codeStandard is the code of all exceptions of the C++ library. The library throws an exception if a part's files are
// missing.
const codeStandard = 1001

// errorCode matches the code in the text of an exception.
var errorCode = regexp.MustCompile(`^Code: ([0-9]+)\.`)

// IsDamageText is like IsDamage, for the text of an exception in one of the engine's tables.
func IsDamageText(text string) bool {
	found := errorCode.FindStringSubmatch(text)
	if found == nil {
		return false
	}
	code, err := strconv.ParseInt(found[1], 10, 32)
	return err == nil && IsDamage(int32(code), text)
}

// partName matches the name of a part in a path or in quotes, such as 202611_1_20_3.
var partName = regexp.MustCompile(`[/'` + "`" + `"]([0-9a-z]+(?:_[0-9]+){3,4})[/'` + "`" + `"]`)

// DamagedPart returns the name of the damaged part from an error of the engine. It returns "" if the error names no
// part.
func DamagedPart(message string) string {
	found := partName.FindStringSubmatch(message)
	if found == nil {
		return ""
	}
	return found[1]
}
