# A static binary that runs as nobody in particular, on ports that nobody needs rights for:
#
#   docker build -t gateway --build-arg VERSION="$(git describe --always --dirty)" .
#   docker run --network shop -p 80:8080 -e FPM=php:9000 -v ./public:/srv/app/public:ro gateway
#
# where php is a container with PHP-FPM in the same network, and with the application at the same path, /srv/app;
# or with a configuration of your own, which listens above 1024 as well:
#
#   docker run -p 80:8080 -p 443:8443 -v ./gateway.toml:/etc/gateway/gateway.toml:ro -v gateway:/var/lib/gateway gateway
FROM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=unknown
RUN CGO_ENABLED=0 go build -trimpath -ldflags="-s -w -X main.release=$VERSION" -o /out/gateway ./cmd/gateway \
    && install -d -o 65532 -g 65532 -m 0700 /out/var /out/run && install -d -m 1777 /out/tmp

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /out/gateway /usr/bin/gateway
COPY --from=build --chown=65532:65532 /out/var /var/lib/gateway
COPY --from=build --chown=65532:65532 /out/run /run/gateway
COPY --from=build /out/tmp /tmp
COPY conf/docker.toml /etc/gateway/gateway.toml
ENV APP_PUBLIC=/srv/app/public FPM=127.0.0.1:9000
USER 65532:65532
EXPOSE 8080 8443
VOLUME /var/lib/gateway
HEALTHCHECK --interval=10s --timeout=3s CMD ["/usr/bin/gateway", "status", "-c", "/etc/gateway/gateway.toml"]
ENTRYPOINT ["/usr/bin/gateway"]
CMD ["run", "-c", "/etc/gateway/gateway.toml"]
