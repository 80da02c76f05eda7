package main

import (
	"context"
	"sync"
	"time"

	iam "tenantry.dev/go/iam/v1alpha"
)

// A session sends its access token with every call, and refreshes it a minute before it expires.
type session struct {
	tokens       iam.TokensServiceClient
	mutex        sync.Mutex
	accessToken  string
	refreshToken string
	expires      time.Time
}

// startSession exchanges the API key of the client for an access token and a refresh token.
func startSession(ctx context.Context, tokens iam.TokensServiceClient) *session {
	issued, err := tokens.IssueToken(ctx, &iam.IssueTokenRequest{StartSession: true})
	require(err == nil, "issue a token: %v", err)
	return &session{
		tokens:       tokens,
		accessToken:  issued.GetAccessToken(),
		refreshToken: issued.GetRefreshToken(),
		expires:      issued.GetExpireTime().AsTime(),
	}
}

func (s *session) GetRequestMetadata(ctx context.Context, _ ...string) (map[string]string, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if time.Until(s.expires) < time.Minute {
		next, err := s.tokens.RefreshToken(ctx, &iam.RefreshTokenRequest{RefreshToken: s.refreshToken})
		if err != nil {
			return nil, err
		}
		s.accessToken, s.refreshToken = next.GetAccessToken(), next.GetRefreshToken()
		s.expires = next.GetExpireTime().AsTime()
	}
	return bearer(s.accessToken).GetRequestMetadata(ctx)
}

func (s *session) RequireTransportSecurity() bool { return false }
