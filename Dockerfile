# The image of worker and command line: docker build -t holdfast .
FROM node:24-bookworm-slim AS production
WORKDIR /src
COPY package.json package-lock.json .npmrc ./
# The dev dependency `node` is for checkouts; here the base image is Node 24.
RUN npm ci --omit=dev --ignore-scripts
# Two thirds of it serve no running worker: Temporal's native library for other platforms and its Rust sources, types
# and source maps.
RUN cd node_modules \
    && find @temporalio/core-bridge/releases -mindepth 1 -maxdepth 1 ! -name "$(uname -m)-unknown-linux-gnu" -exec rm -r {} + \
    && rm -r @temporalio/core-bridge/sdk-core \
    && find . -type f \( -name '*.ts' -o -name '*.mts' -o -name '*.cts' -o -name '*.map' \) -delete

FROM production AS build
RUN npm ci --ignore-scripts
COPY . .
RUN node scripts/build.ts

FROM node:24-bookworm-slim
# Temporal's client reads the system's certificates, and the base image has none: it gets those that Node brings.
RUN mkdir -p /etc/ssl/certs \
    && node -p "require('node:tls').rootCertificates.join('\n')" > /etc/ssl/certs/ca-certificates.crt
WORKDIR /app
ENV NODE_ENV=production
COPY --from=production /src/node_modules ./node_modules
COPY --from=build /src/package.json ./
COPY --from=build /src/bin ./bin
COPY --from=build /src/dist ./dist
USER 65532:65532
ENTRYPOINT ["node", "/app/bin/holdfast.js"]
CMD ["worker"]
