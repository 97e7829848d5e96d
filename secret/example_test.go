package secret_test

import (
	"encoding/json"
	"errors"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"concord/secret"
)

// A secret prints its size, whatever the verb, and refuses to be encoded. Who needs the value
// says so.
func ExampleMatrix() {
	rows := secret.NewMatrix(mat.NewDense(1, 2, []float64{71, 1.92}))
	fmt.Println(rows)
	fmt.Printf("%+v %g\n", struct{ Rows secret.Matrix }{rows}, rows)
	_, err := json.Marshal(rows)
	fmt.Println(errors.Is(err, secret.ErrEncode))
	fmt.Println(rows.Reveal().At(0, 0))
	// Output:
	// secret(1 × 2 matrix)
	// {Rows:secret(1 × 2 matrix)} secret(1 × 2 matrix)
	// true
	// 71
}
