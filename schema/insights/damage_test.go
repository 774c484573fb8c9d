package insights

import "testing"

// TestDamagedPart: the engine's errors contain the damaged part's name as a folder or in quotes. Other errors contain
// no name of a part.
func TestDamagedPart(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]string{
		"Checksum doesn't match: corrupted data: (while reading from part /var/lib/ch/store/1f2/1f2b/202611_1_20_3/ " +
			"located on disk default of type local)": "202611_1_20_3",
		"Marks file 'data.cmrk3' doesn't exist: in part `202611_7_7_0_9`": "202611_7_7_0_9",
		"(while reading from part store/abc/20d4e6f8a1b3c5d7e9f0_1_1_0/)": "20d4e6f8a1b3c5d7e9f0_1_1_0",
		"Cannot read all data. Bytes read: 3. Bytes expected: 40.":        "",
		"Table default.events_2_3 does not exist":                         "",
	} {
		if got := DamagedPart(message); got != want {
			t.Errorf("%q names %q, want %q", message, got, want)
		}
	}
	for text, want := range map[string]bool{
		"Code: 40. DB::Exception: Checksum doesn't match. (CHECKSUM_DOESNT_MATCH)": true,
		"Code: 241. DB::Exception: Memory limit exceeded":                          false,
		"Code: 1001. DB::Exception: std::__1::filesystem::filesystem_error: filesystem error: in file_size: No such " +
			"file or directory [\"/d/store/a55/a55a/202611_1_6_1/skp_idx_time.cmrk4\"]. (STD_EXCEPTION)": true,
		"Code: 1001. DB::Exception: std::bad_function_call. (STD_EXCEPTION)": false,
		"nothing of the kind": false,
	} {
		if got := IsDamageText(text); got != want {
			t.Errorf("%q is damage: %v", text, got)
		}
	}
}
