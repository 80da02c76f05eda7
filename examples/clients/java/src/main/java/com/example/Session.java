package com.example;

import dev.tenantry.iam.v1alpha.IssueTokenRequest;
import dev.tenantry.iam.v1alpha.IssueTokenResponse;
import dev.tenantry.iam.v1alpha.RefreshTokenRequest;
import dev.tenantry.iam.v1alpha.RefreshTokenResponse;
import dev.tenantry.iam.v1alpha.TokensServiceGrpc;
import io.grpc.Channel;
import io.grpc.ClientInterceptors;
import java.time.Duration;
import java.time.Instant;

/** An access token, which is refreshed a minute before it expires. */
final class Session {
  private final TokensServiceGrpc.TokensServiceBlockingStub tokens;
  private String accessToken;
  private String refreshToken;
  private Instant expires;

  private Session(TokensServiceGrpc.TokensServiceBlockingStub tokens, IssueTokenResponse issued) {
    this.tokens = tokens;
    accessToken = issued.getAccessToken();
    refreshToken = issued.getRefreshToken();
    expires = Instant.ofEpochSecond(issued.getExpireTime().getSeconds());
  }

  /** Exchanges an API key for an access token and a refresh token. */
  static Session start(Channel channel, String apiKey) {
    TokensServiceGrpc.TokensServiceBlockingStub tokens =
        TokensServiceGrpc.newBlockingStub(
            ClientInterceptors.intercept(channel, new BearerInterceptor(() -> apiKey)));
    return new Session(tokens, tokens.issueToken(IssueTokenRequest.newBuilder().setStartSession(true).build()));
  }

  synchronized String accessToken() {
    if (Duration.between(Instant.now(), expires).compareTo(Duration.ofMinutes(1)) < 0) {
      RefreshTokenResponse next =
          tokens.refreshToken(RefreshTokenRequest.newBuilder().setRefreshToken(refreshToken).build());
      accessToken = next.getAccessToken();
      refreshToken = next.getRefreshToken();
      expires = Instant.ofEpochSecond(next.getExpireTime().getSeconds());
    }
    return accessToken;
  }

  /** Lets the next call refresh the token. */
  synchronized void refreshNow() {
    expires = Instant.now();
  }
}
