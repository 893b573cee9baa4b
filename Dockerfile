# Build: docker build -t holdfast .
FROM node:24-bookworm-slim AS build
WORKDIR /src
COPY package.json package-lock.json .npmrc ./
# The dev dependency `node` is for checkouts; here the base image is Node 24.
RUN npm ci --ignore-scripts
COPY . .
RUN node scripts/build.ts && npm prune --omit=dev --ignore-scripts

FROM node:24-bookworm-slim
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /app
ENV NODE_ENV=production
COPY --from=build /src/package.json ./
COPY --from=build /src/bin ./bin
COPY --from=build /src/dist ./dist
COPY --from=build /src/node_modules ./node_modules
USER 65532:65532
ENTRYPOINT ["node", "/app/bin/holdfast.js"]
CMD ["worker"]
