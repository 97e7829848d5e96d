package server

import (
	"errors"
	"net/http"
	"strconv"

	"concord/internal/api"
)

// checkVersion states this program's version and refuses a request of a program
// that is too far from it.
func checkVersion(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set(api.HeaderVersion, strconv.Itoa(api.Version))
	err := api.CheckRequest(r.Header)
	var far *api.VersionError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &far):
		return &problem{http.StatusBadRequest, api.CodeVersion, far.Error(), far.Hint(), nil}
	}
	return badRequest("%v", err)
}
