# Fanfare as one image: docker build -t fanfare .
# With ffmpeg, for video: docker build --build-arg WITH_FFMPEG=yes -t fanfare .

# What cargo needs to know to build the dependencies: manifests, and sources that are empty.
FROM rust:1.95-slim-bookworm AS manifests
WORKDIR /src
COPY . .
RUN scripts/empty-sources.sh

# The dependencies are built from those, so this layer is made again only when a manifest or the lock file changes.
FROM rust:1.95-slim-bookworm AS build
WORKDIR /src
COPY --from=manifests /src ./
RUN cargo build --release --locked --bin fanfare
COPY . .
# Cargo goes by times, and the empty sources are newer than the real ones.
RUN find . -name '*.rs' -exec touch {} + \
    && cargo build --release --locked --bin fanfare

FROM debian:bookworm-slim
ARG WITH_FFMPEG=
RUN apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates ${WITH_FFMPEG:+ffmpeg} \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --uid 10001 --no-create-home --shell /usr/sbin/nologin fanfare \
    && install -d -o fanfare -g fanfare /var/lib/fanfare
COPY --from=build /src/target/release/fanfare /usr/local/bin/fanfare
USER 10001
# The simulated networks are a test double: FANFARE_SIMULATOR=on brings them, for trying things out.
ENV FANFARE_DATA_DIR=/var/lib/fanfare \
    FANFARE_SIMULATOR=off \
    FANFARE_LISTEN=0.0.0.0:8080 \
    FANFARE_LOG_FORMAT=json
VOLUME /var/lib/fanfare
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s CMD ["fanfare", "health"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["fanfare"]
CMD ["up"]
