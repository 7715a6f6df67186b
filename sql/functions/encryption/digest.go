package encryption

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"hash"
	"strings"

	"github.com/radish-sql/radish/column"
	"github.com/radish-sql/radish/sql/expr"
	"github.com/radish-sql/radish/sql/interrupt"
	"github.com/radish-sql/radish/sql/types"
)

// digestFunctions are the digests.
func digestFunctions() []*expr.Function {
	digest := func(name, doc string, length int, start func() hash.Hash, aliases ...string) *expr.Function {
		return &expr.Function{Name: name, Aliases: aliases, Category: category, Syntax: strings.ToUpper(name) + "(s)", Doc: doc, MinArgs: 1, MaxArgs: 1,
			ByDictionary: true, Resolve: expr.ResolveStringsTo(types.Varchar(length)),
			Eval: expr.StringKernel(func(c *expr.Context, s string) (string, error) {
				h := start()
				err := interrupt.Feed(c, h, s)
				if err != nil {
					return "", err
				}
				digest := hex.EncodeToString(h.Sum(nil))
				return digest, c.Made(digest)
			})}
	}
	return []*expr.Function{
		digest("md5", "The MD5 digest in hexadecimal.", 32, md5.New),
		digest("sha1", "The SHA-1 digest in hexadecimal.", 40, sha1.New, "sha"),
		{Name: "sha2", Category: category, Syntax: "SHA2(s, bits)", MinArgs: 2, MaxArgs: 2,
			Doc: "The SHA-2 digest of 224, 256 (or 0), 384 or 512 bits in hexadecimal; NULL for other sizes.", Resolve: resolveSHA2, Eval: evalSHA2},
	}
}

const category = "Encryption and digest functions"

func resolveSHA2(args []expr.Expr) (expr.Signature, error) {
	return expr.Signature{Args: []types.Type{expr.CastToString(args[0]), types.Int64}, Result: types.Varchar(128), Nullable: true}, nil
}

func evalSHA2(c *expr.Context, _ *expr.Call, out *column.Vector, args []*column.Vector, sel []int32, n int) error {
	s, bits := expr.Strings(args[0]), expr.Ints(args[1])
	for _, i := range expr.Positions(sel, n) {
		var h hash.Hash
		switch bits.At(int(i)) {
		case 224:
			h = sha256.New224()
		case 0, 256:
			h = sha256.New()
		case 384:
			h = sha512.New384()
		case 512:
			h = sha512.New()
		default:
			out.SetNull(int(i), n)
			continue
		}
		if err := interrupt.Feed(c, h, s.At(int(i))); err != nil {
			return err
		}
		out.Str[i] = hex.EncodeToString(h.Sum(nil))
	}
	return nil
}
