// Go's assembly: hashes, ciphers and big numbers.
package main

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"fmt"
	"math/big"
	"time"
)

func main() {
	text := make([]byte, 4096)
	block, _ := aes.NewCipher(text[:16])
	gcm, _ := cipher.NewGCM(block)
	key, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	n := new(big.Int).Lsh(big.NewInt(12345), 4000)
	for end := time.Now().Add(2 * time.Second); time.Now().Before(end); {
		for i := 0; i < 20; i++ {
			sum := sha512.Sum512(text)
			copy(text, sum[:])
			other := sha256.Sum256(text)
			copy(text[64:], other[:])
			gcm.Seal(nil, text[:12], text, nil)
		}
		ecdsa.SignASN1(rand.Reader, key, text[:32])
		n = n.Mod(n.Mul(n, n), big.NewInt(0).Lsh(big.NewInt(1), 4096))
	}
	fmt.Println(text[0], n.BitLen())
}
