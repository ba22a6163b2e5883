# Two stages: the first compiles, the second contains only the program. The node runs as its own user. docs/operating.md describes
# how to run it and how to reach its JSON-RPC.
FROM node:22-bookworm-slim AS build
RUN apt-get update && apt-get install -y --no-install-recommends g++ && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY package.json package-lock.json tsconfig.json ./
COPY scripts ./scripts
COPY native ./native
COPY third_party ./third_party
COPY data ./data
COPY src ./src
RUN npm ci --ignore-scripts && npm run build && npm prune --omit=dev --ignore-scripts \
  && rm -rf node_modules/@photostructure node_modules/typescript node_modules/esbuild node_modules/@esbuild node_modules/node-api-headers node_modules/.bin \
  && chmod 0755 dist/bin/lbcnode.js dist/bin/lbcnode-cli.js dist/bin/lbcnet.js

FROM node:22-bookworm-slim
# The running node needs no tools that install and build packages. The link lets the client find the node's cookie.
RUN rm -rf /usr/local/lib/node_modules /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack /usr/local/bin/yarn* /opt/yarn* \
  && useradd --create-home --uid 10001 lbcnode && install -d -o lbcnode -m 0700 /data && ln -s /data /home/lbcnode/.lbcnode
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/data ./data
COPY --from=build /app/build/lbcnode.node ./build/lbcnode.node
COPY --from=build /app/dist ./dist
RUN ln -s /app/dist/bin/lbcnode.js /usr/local/bin/lbcnode && ln -s /app/dist/bin/lbcnode-cli.js /usr/local/bin/lbcnode-cli \
  && ln -s /app/dist/bin/lbcnet.js /usr/local/bin/lbcnet
USER lbcnode
VOLUME /data
# JSON-RPC and peers.
EXPOSE 9245 9246
# The port of the health check; set another one with another network or -rpcport.
ENV RPC_PORT=9245
HEALTHCHECK --interval=30s --timeout=10s --start-period=120s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.RPC_PORT + '/health').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["lbcnode", "-datadir=/data", "-printtoconsole"]
