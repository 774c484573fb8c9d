package embedded

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// ErrNoCopy is the error of ClickHouseCopy.
var ErrNoCopy = errors.New("is no copy")

// ClickHouseCopy returns the `store` folder of the ClickHouse data in the copy `dir`. `dir` is a copy of the data
// directory `dataDir`, or only of its ClickHouse folder. If `dir` is neither, or is a copy of another installation,
// ClickHouseCopy fails with ErrNoCopy. It changes no file.
func ClickHouseCopy(dir, dataDir string) (server string, err error) {
	refuse := func(format string, arguments ...any) (string, error) {
		why := fmt.Sprintf(format, arguments...)
		return "", fmt.Errorf("%s %w of data directory %s: %s", dir, ErrNoCopy, dataDir, why)
	}
	var own marks
	known, err := readMarks(filepath.Join(dataDir, marksFile), &own)
	if err != nil {
		return "", err
	}
	if !known {
		return refuse("the data directory has no file %s, so nobody can tell", marksFile)
	}
	folder := filepath.Join(dir, ClickHouse)
	places := []string{dir, folder} // the folders that may have a file of marks
	if _, err := os.Stat(folder); errors.Is(err, os.ErrNotExist) {
		folder, places = dir, places[:1]
	}
	server = filepath.Join(folder, "store")
	if filled, err := hasData(folder, "store"); err != nil || !filled {
		if err != nil {
			return "", fmt.Errorf("cannot read %s: %w", server, err)
		}
		return refuse("it has no data of %s", ClickHouse)
	}
	if sameFolder(folder, filepath.Join(dataDir, ClickHouse)) {
		return refuse("it is the data directory's own folder")
	}
	marked := false
	for _, place := range places {
		var m struct {
			ID string `json:"id"` // the member id of marks and of mark
		}
		known, err := readMarks(filepath.Join(place, marksFile), &m)
		if err != nil {
			return "", err
		}
		if known && m.ID != own.ID {
			return refuse("it is of another installation")
		}
		marked = marked || known
	}
	if !marked {
		return refuse("it has no file %s, so nobody can tell of which installation it is", marksFile)
	}
	return server, nil
}

func sameFolder(a, b string) bool {
	of, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(of, other)
}
