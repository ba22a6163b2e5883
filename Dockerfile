# Two stages: the first compiles, the second carries only what runs. The node runs as its own user.
FROM node:22-bookworm-slim AS build
RUN apt-get update && apt-get install -y --no-install-recommends g++ && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY package.json package-lock.json tsconfig.json ./
COPY scripts ./scripts
COPY native ./native
COPY data ./data
COPY src ./src
RUN npm ci --ignore-scripts && npm run build && npm prune --omit=dev

FROM node:22-bookworm-slim
RUN useradd --create-home --uid 10001 lbcnode && mkdir /data && chown lbcnode /data
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/data ./data
COPY --from=build /app/build/lbcnode.node ./build/lbcnode.node
COPY --from=build /app/dist ./dist
USER lbcnode
VOLUME /data
EXPOSE 9245 9246
# The port on which the node is asked for its health; another network or -rpcport has another one.
ENV RPC_PORT=9245
HEALTHCHECK --interval=30s --timeout=10s --start-period=120s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.RPC_PORT + '/health').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["node", "dist/bin/lbcnode.js", "-datadir=/data", "-printtoconsole"]
