// Verifies access tokens as a service would that calls of others reach: with the public keys, without asking. TENANTRY_URL is the
// service, TENANTRY_KEY the API key of the operator.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/MicahParks/keyfunc/v3"
	"github.com/golang-jwt/jwt/v5"
)

// Claims are those of an access token (RFC 9068).
type Claims struct {
	jwt.RegisteredClaims
	Scope string `json:"scope"`
}

// A verifier knows the service from its metadata (RFC 8414). It reads the keys again when a token names one that it does not know.
type verifier struct {
	issuer string
	keys   keyfunc.Keyfunc
}

func newVerifier(ctx context.Context, url string) (*verifier, error) {
	response, err := http.Get(url + "/.well-known/oauth-authorization-server")
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	var metadata struct {
		Issuer  string `json:"issuer"`
		JWKSURI string `json:"jwks_uri"`
	}
	if err := json.NewDecoder(response.Body).Decode(&metadata); err != nil {
		return nil, err
	}
	keys, err := keyfunc.NewDefaultCtx(ctx, []string{metadata.JWKSURI})
	return &verifier{issuer: metadata.Issuer, keys: keys}, err
}

// verify returns the claims of a valid token.
func (v *verifier) verify(token, audience string) (*Claims, error) {
	claims := &Claims{}
	parsed, err := jwt.ParseWithClaims(token, claims, v.keys.Keyfunc,
		jwt.WithValidMethods([]string{"ES256", "RS256", "EdDSA"}),
		jwt.WithIssuer(v.issuer),
		jwt.WithAudience(audience),
		jwt.WithExpirationRequired())
	if err != nil {
		return nil, err
	}
	if parsed.Header["typ"] != "at+jwt" {
		return nil, fmt.Errorf("not an access token (RFC 9068): %v", parsed.Header["typ"])
	}
	return claims, nil
}

// issueToken exchanges the API key for an access token.
func issueToken(url, body string) (string, error) {
	request, err := http.NewRequest(http.MethodPost, url+"/iam/v1alpha/tokens:issue", bytes.NewBufferString(body))
	if err != nil {
		return "", err
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("TENANTRY_KEY"))
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	var issued struct {
		AccessToken string `json:"access_token"`
	}
	err = json.NewDecoder(response.Body).Decode(&issued)
	return issued.AccessToken, err
}

func changeSignature(token string) string {
	start := strings.LastIndex(token, ".") + 1
	changed := "A"
	if token[start] == 'A' {
		changed = "B"
	}
	return token[:start] + changed + token[start+1:]
}

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	url := os.Getenv("TENANTRY_URL")
	verifier, err := newVerifier(ctx, url)
	require(err == nil, "the keys: %v", err)
	token, err := issueToken(url, "{}")
	require(err == nil, "issue a token: %v", err)

	claims, err := verifier.verify(token, verifier.issuer)
	require(err == nil && claims.Scope == "*", "a valid token: %v %v", claims, err)
	_, err = verifier.verify(changeSignature(token), verifier.issuer)
	require(errors.Is(err, jwt.ErrTokenSignatureInvalid), "a changed signature: %v", err)
	_, err = verifier.verify(token, "https://billing.example.com")
	require(errors.Is(err, jwt.ErrTokenInvalidAudience), "another audience: %v", err)

	brief, err := issueToken(url, `{"lifetime": "1s"}`)
	require(err == nil, "issue a token: %v", err)
	unverified := &Claims{}
	_, _, err = jwt.NewParser().ParseUnverified(brief, unverified)
	require(err == nil, "a token of a second: %v", err)
	time.Sleep(time.Until(unverified.ExpiresAt.Time))
	_, err = verifier.verify(brief, verifier.issuer)
	require(errors.Is(err, jwt.ErrTokenExpired), "an expired token: %v", err)
	fmt.Println("tokens-go: all is well")
}

func require(holds bool, format string, values ...any) {
	if !holds {
		log.Fatalf("tokens-go: "+format, values...)
	}
}
