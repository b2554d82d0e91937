// Written by `npm run openapi` from docs/openapi.json. Do not edit.
export interface paths {
    "/api/policy": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the deployment policy and the permissions of this caller
         * @description Returns the authorization flow, the permitted servers, zones and ports, the rate limits, and in `caller.may` the permissions of the calling address. Call it first.
         */
        get: operations["getPolicy"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/deploy/plan": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create a plan: check backend, name, certificate and edge; changes nothing
         * @description Checks at the same time that the backend is healthy, that the DNS name is free, that HTTPS is possible and that the edge can serve the name. Returns the ordered changes of an apply and a digest of them. Nothing is changed. If a check fails, the plan is refused with the code of the first failed check and all `checks`, and is not stored.
         */
        post: operations["createPlan"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/deploy/plan/adopt": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Plan to take a hand-written site under management; changes nothing (internal network only)
         * @description Reads the hand-written site of the host on the Primary and plans an exposure with the same backend, TLS and options. The records of the name stay and are named in the plan. `adopt.enabled` must be true. The answer names directives, and neither files nor text of the site. Apply the plan with a capability for the action `adopt`.
         */
        post: operations["planAdoption"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/deploy/plans/{planId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a plan by its id
         * @description Returns the plan as it was created, its current state, and every run with its steps. Callers on every network can read it. A malformed id answers `plan_not_found`.
         */
        get: operations["getPlan"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/deploy/plans/{planId}/drift": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Compare an applied plan with files, zone and certificate (internal network only)
         * @description Compares an applied plan with the Primary's files, the zone and the certificate that the Primary shows. Lists every difference with what was expected and found, never a line of a file. `overwrite` is true where a repair would overwrite a change that was made outside Drawbridge. Changes nothing.
         */
        get: operations["getDrift"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/deploy/plans": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List recent plans, newest first (internal network only)
         * @description Returns summaries of stored plans, newest first. Pass `nextCursor` as `cursor` to get the next page; it is null on the last page.
         */
        get: operations["listPlans"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/internal/token": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Issue a capability for one run of a plan (internal network only)
         * @description Returns a capability that permits one run of this plan with this action, from the calling address, within five minutes. Send it in `x-deploy-capability`. The service stores only its hash and never shows it again.
         */
        post: operations["issueCapability"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/deploy/apply": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Apply a plan: certificate, proxy and DNS together, verified on the Primary, or rolled back
         * @description Repeats the checks of the plan, then changes certificate, proxy and DNS together and verifies the result on the Primary. If a step fails, all changes are rolled back, and `steps` and `rollback` describe it. Answers when the run has ended. A client that disconnects does not stop the run. With `Prefer: respond-async` it answers 202 at once.
         */
        post: operations["applyPlan"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/deploy/remove": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Remove the exposure of an applied plan: DNS first, then the proxy
         * @description Removes the DNS records first and then the entry of the proxy, and only what the plan created. A file or record that was changed outside Drawbridge is not removed; the answer names it. Needs a capability for the action `remove`. With `Prefer: respond-async` it answers 202 at once.
         */
        post: operations["removeExposure"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/deploy/extend": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Extend the lifetime of an applied plan, counted from now; never shortens it; authorized like apply
         * @description Sets a later end of an exposure, in seconds from now. An earlier end than the current one, or an end for a permanent exposure, is refused. Needs the same credentials as an apply. The service removes the exposure at its end.
         */
        post: operations["extendExposure"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/deploy/renew": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Renew the certificate of an applied plan's host now, within the order budget
         * @description Uses a better certificate from the certificate folders, or orders a new one within the order budget, even if the renewal is not due. Answers when every host with the old certificate is served with the new one, or with `Prefer: respond-async` 202 at once.
         */
        post: operations["renewCertificate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/deploy/repair": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Repair the exposure of an applied plan: write certificate, proxy and DNS again as they were applied
         * @description Writes certificate, proxy entry and DNS records of an applied plan again where they differ, and verifies the result on the Primary. Where that would overwrite a change that was made outside Drawbridge, it is refused with `changed_elsewhere`, unless `overwrite` is true; `GET /api/deploy/plans/{planId}/drift` shows the change first. If a step fails, everything is as it was before the repair. Needs a capability for the action `repair`. With `Prefer: respond-async` it answers 202 at once.
         */
        post: operations["repairExposure"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/deploy/accept": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Accept a host as it stands: it stays on the air, and Drawbridge no longer manages it
         * @description Leaves the records and the service of the host as they are and takes the exposure out of the books: the owner mark goes, the entry is written once as a file outside the folder of Drawbridge, and the plan is `released`. The host stays on the air. Nobody renews its certificate or removes it at its end any more. Needs a capability for the action `accept`. With `Prefer: respond-async` it answers 202 at once.
         */
        post: operations["acceptExposure"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/deploy/release": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Give a host back as a file of its own: it stays on the air, and Drawbridge no longer manages it
         * @description Does what accept does, for a host that is as its plan says. A host that differs from its plan is refused with `changed_elsewhere`. Needs a capability for the action `release`. With `Prefer: respond-async` it answers 202 at once.
         */
        post: operations["releaseExposure"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/deploy/plans/{planId}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Stream a plan's steps as they start and end; public callers get only the end (server-sent events)
         * @description Streams the events of the plan's newest run: first the past events, then each new event, until the event `end`. A client that resumes with `Last-Event-ID` misses none.
         */
        get: operations["followPlan"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Stream events as they happen (server-sent events, internal network only)
         * @description Streams every event of exposures, hosts and certificates. A client that resumes with `Last-Event-ID` or `after` gets the events that it missed. `type` and `host` accept comma-separated lists.
         */
        get: operations["followEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/events/recent": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The newest events (internal network only)
         * @description Returns the newest events, oldest first, at once. `before` turns the page; `type` and `host` accept comma-separated lists. One call looks at up to 10,000 events, so a page can be short or empty and still have `nextBefore`. `head` is the position from which `GET /api/events` goes on without a gap.
         */
        get: operations["listEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lines of the audit (internal network only)
         * @description Returns who did what, when and with which outcome. Each line has the hash of the previous line, and `drawbridge audit verify` checks the chain. Without `after` it returns the newest lines.
         */
        get: operations["readAudit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List webhooks with their delivery state and dead letters (internal network only)
         * @description Returns for each configured webhook the number of delivered, pending and abandoned events, the last failure, and the abandoned events (dead letters).
         */
        get: operations["listWebhooks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a host's last check, its server and the path of its configuration file
         * @description Returns the last result of the monitor: badge, last check, server and the path of the configuration file. The call sends no request to the host. A host that is not exposed answers `host_not_found` and can be planned.
         */
        get: operations["getHealth"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/hosts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List every host of the Primary's edge with its badge
         * @description Returns every host that the Primary's edge serves, created by Drawbridge or not, with the last result of the monitor. Supports filters, sorting and pages. Answers 304 when `If-None-Match` has the current `ETag`.
         */
        get: operations["listHosts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/hosts/{host}/mute": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Mute a host: it is checked as before, but needs no attention and causes no alert and no webhook
         * @description The host may be managed or not. It keeps its badge, and callers inside see `muted` in its row. Without `expiresIn` it is muted until somebody ends it, or its exposure is removed. A later mute replaces the earlier one. Internal network only; no capability is needed.
         */
        post: operations["muteHost"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/hosts/{host}/unmute": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * End the mute of a host
         * @description Repeatable: a host that is not muted is no error. A mute of the configuration can only be ended there. Internal network only; no capability is needed.
         */
        post: operations["unmuteHost"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/hosts/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Stream badge changes (server-sent events)
         * @description Streams an event `badge` with the row of each host whose badge changes, and an event `hosts` when hosts are added or removed. A client that resumes with `Last-Event-ID` misses none.
         */
        get: operations["followHosts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/hosts/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a host's uptime, latency and incidents over 1, 7, 30 or 90 days
         * @description Returns the share of successful checks and the average latency of a host by hours (1 or 7 days) or by days (30 or 90). Hours are kept for 8 days, days for 91. The newest two minutes may be missing. Also returns the incidents in that time: when the host was not well, and with which badges, as far as events are kept.
         */
        get: operations["getHostHistory"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/hosts/changes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Stream what changes in the list of hosts (server-sent events)
         * @description Keeps a list that was loaded from `GET /api/hosts` up to date. `row` has the row of a host that is new or changed, `gone` the name of one that is no longer listed, and `alive` comes every 10 s. Internal callers also get `edges` and, when a plan or one of its runs changes, `plan`, and `event` with the position of the newest event. A latency is sent when it has changed much. After a disconnection load the list again.
         */
        get: operations["followHostChanges"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/diagnose": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Inspect a host now, link by link, and name the cause; changes nothing
         * @description Inspects every link from the DNS name to the backend within five seconds, and names the first cause that explains what visitors experience, with advice. The answer never contains the content of a file or a log line. Names from outside, such as file names, are quoted if they are not plain.
         */
        get: operations["diagnoseHost"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read metrics for Prometheus (internal network only)
         * @description Returns counters and gauges of hosts, plans, runs and certificates in the Prometheus exposition format.
         */
        get: operations["getMetrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/livez": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Check that the service runs
         * @description Answers 200 while the process can answer. Accepts any `Host` header and has no rate limit.
         */
        get: operations["isAlive"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/readyz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Check that the service runs, its store answers and no shutdown is in progress
         * @description Answers 200 when the service can handle requests: the store answers and no shutdown is in progress. Answers 503 otherwise. Accepts any `Host` header and has no rate limit.
         */
        get: operations["isReady"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description The current policy. */
        Policy: {
            /** @enum {string} */
            flow: "capability" | "legacy";
            servers: {
                targets: string[];
                primary: string;
                secondary: string | null;
            };
            zones: string[];
            internalNetworks: string[];
            capability: {
                header: string;
                ttlSeconds: number;
                uses: number;
                boundTo: string[];
            };
            adminToken: {
                accepted: boolean;
                header: string;
            };
            plan: {
                ttlSeconds: number;
            };
            ports: {
                allowed: number[][];
                /** @description Ports of Drawbridge's own listeners, denied on every server. */
                denied: number[];
                /** @description Ports denied on single servers: 80 and 443 on servers with an edge. */
                deniedOn: {
                    [key: string]: number[];
                };
            };
            health: {
                pattern: string;
                timeoutSeconds: number;
            };
            rateLimits: {
                /** @description Requests per address and minute. */
                public: {
                    plan: number;
                    diagnose: number;
                    read: number;
                    failedCredential: number;
                };
                /** @description Requests per address and minute. */
                internal: {
                    plan: number;
                    diagnose: number;
                    read: number;
                    failedCredential: number;
                };
            };
            conflictingRecordTypes: ("A" | "AAAA" | "CNAME" | "TXT" | "MX" | "SRV" | "CAA" | "NS" | "HTTPS" | "SVCB")[];
            callOrder: string[];
            caller: {
                /** @enum {string} */
                network: "internal" | "public";
                may: ("read" | "plan" | "token" | "apply" | "remove" | "repair" | "accept" | "renew" | "adopt" | "release")[];
            };
            /** @description Whether this installation can apply plans, or why it can only plan. */
            apply: {
                possible: boolean;
                reasons: string[];
            };
            version: string;
            /** @description The configuration file on the server, for `drawbridge resolve`. Only internal callers see it. */
            configFile?: string;
        };
        /** @description How the edge serves the host. Without options it serves the host as every other one. */
        ExposureOptions: {
            /**
             * @description The largest body of a request, with k, m or g. 0: no limit. Default: 64m.
             * @example 50m
             */
            maxBody?: string;
            /** @description In seconds, between the edge and the backend. */
            timeouts?: {
                /** @description To connect to the backend. Default: 5. */
                connect?: number;
                /** @description Between two reads from the backend. Default: 300. */
                read?: number;
                /** @description Between two writes to the backend. Default: 60. */
                send?: number;
            };
            /** @description Whether WebSocket upgrades are passed on. Default: true. */
            websocket?: boolean;
            /** @description Whether the edge buffers requests and responses. Default: true. */
            buffering?: boolean;
            /** @description Headers that the edge adds to responses, in place of the backend's own. */
            headers?: {
                /** @description Strict-Transport-Security. The exposure must have TLS. */
                hsts?: {
                    /** @example 31536000 */
                    maxAge: number;
                    includeSubDomains?: boolean;
                    preload?: boolean;
                };
                /**
                 * @description The value of X-Frame-Options.
                 * @enum {string}
                 */
                frameOptions?: "DENY" | "SAMEORIGIN";
                /**
                 * @description The value of Referrer-Policy.
                 * @enum {string}
                 */
                referrerPolicy?: "no-referrer" | "no-referrer-when-downgrade" | "origin" | "origin-when-cross-origin" | "same-origin" | "strict-origin" | "strict-origin-when-cross-origin" | "unsafe-url";
                /**
                 * @description The value of X-Content-Type-Options.
                 * @enum {string}
                 */
                contentTypeOptions?: "nosniff";
                /**
                 * @description The value of Cross-Origin-Opener-Policy.
                 * @enum {string}
                 */
                openerPolicy?: "same-origin" | "same-origin-allow-popups" | "unsafe-none";
                /**
                 * @description The value of Cross-Origin-Resource-Policy.
                 * @enum {string}
                 */
                resourcePolicy?: "same-origin" | "same-site" | "cross-origin";
                /**
                 * @description The value of Cross-Origin-Embedder-Policy.
                 * @enum {string}
                 */
                embedderPolicy?: "require-corp" | "credentialless" | "unsafe-none";
                /**
                 * @description The value of X-Robots-Tag.
                 * @enum {string}
                 */
                robots?: "noindex" | "nofollow" | "none";
            };
            /** @description The networks that may visit the host. Everybody else gets 403. */
            allow?: string[];
            /**
             * @description The id of a password file in the configuration.
             * @example office
             */
            basicAuth?: string;
            /** @description The backend speaks HTTPS, with a certificate of this authority. */
            backendTls?: {
                /**
                 * @description The id of an authority in the configuration.
                 * @example office
                 */
                authority: string;
                /**
                 * Format: dns-zone
                 * @description The name in the backend's certificate. Default: the host.
                 * @example app.internal.test
                 */
                name?: string;
            };
            /** @description Further backends with the same service. The edge turns to them when the first one fails. */
            backends?: {
                server: string;
                port: number;
            }[];
            /** @description The edge answers 503 with a small page, and does not ask the backend. */
            maintenance?: {
                /** @description Default: 300. */
                retryAfter?: number;
            };
            snippets?: string[];
        };
        /** @description One name bound to one backend. */
        ExposureRequest: {
            /**
             * Format: dns-zone
             * @description A zone of the policy. Upper and lower case are equal.
             * @example lab.test
             */
            zone: string;
            /**
             * Format: dns-label
             * @description One label, placed under the zone.
             * @example hello
             */
            subdomain: string;
            /**
             * @description The target server: one of servers.targets in the policy.
             * @example 25
             */
            server: string;
            /**
             * @description The backend's port on the target server. The port policy must permit it.
             * @example 3000
             */
            port: number;
            /**
             * @description The path that must answer HTTP 2xx.
             * @example /healthz
             */
            health: string;
            /** @description Whether to set up HTTPS. */
            tls: boolean;
            /** @description Seconds after which the service removes the exposure. */
            expiresIn?: number;
            /** @description The applied plan for the same host whose place this plan takes: a change without a gap. Only for internal callers. */
            replaces?: string;
            /**
             * Format: owner
             * @description Who is responsible: a person, a team or an e-mail address. Grants nothing. A plan with `replaces` keeps the former one. Only internal callers may send it and see it.
             * @example team-web
             */
            owner?: string;
            /**
             * Format: note
             * @description One line about what the exposure is for. A plan with `replaces` keeps the former one. Only internal callers may send it and see it.
             * @example Demo for the sales meeting
             */
            note?: string;
            options?: components["schemas"]["ExposureOptions"];
        };
        /** @description The request of a plan. */
        PlannedRequest: {
            /**
             * Format: dns-zone
             * @description A zone of the policy. Upper and lower case are equal.
             * @example lab.test
             */
            zone: string;
            /**
             * Format: dns-label
             * @description One label, placed under the zone.
             * @example hello
             */
            subdomain: string;
            /**
             * @description The target server: one of servers.targets in the policy.
             * @example 25
             */
            server: string;
            /**
             * @description The backend's port on the target server. The port policy must permit it.
             * @example 3000
             */
            port: number;
            /**
             * @description The path that must answer HTTP 2xx.
             * @example /healthz
             */
            health: string;
            /** @description Whether to set up HTTPS. */
            tls: boolean;
            /** @description Seconds after which the service removes the exposure. */
            expiresIn?: number;
            /** @description The applied plan for the same host whose place this plan takes: a change without a gap. Only for internal callers. */
            replaces?: string;
            /**
             * Format: owner
             * @description Who is responsible: a person, a team or an e-mail address. Grants nothing. A plan with `replaces` keeps the former one. Only internal callers may send it and see it.
             * @example team-web
             */
            owner?: string;
            /**
             * Format: note
             * @description One line about what the exposure is for. A plan with `replaces` keeps the former one. Only internal callers may send it and see it.
             * @example Demo for the sales meeting
             */
            note?: string;
            options?: components["schemas"]["ExposureOptions"];
            /** @description Digests of the hand-written site whose place the exposure takes. */
            adopt?: {
                site: string;
                text: string;
            };
        };
        /** @description The result of one check. Further members are evidence. */
        Check: {
            /** @enum {string} */
            name: "health" | "dns" | "certificate" | "proxy";
            /** @enum {string} */
            status: "passed" | "warning" | "not_required" | "failed";
            detail: string;
        } & {
            [key: string]: unknown;
        };
        /** @description One change that an apply would make. */
        Change: {
            /** @enum {string} */
            kind: "certificate" | "proxy" | "dns";
            action: string;
        } & {
            [key: string]: unknown;
        };
        /** @description The newest run with its steps. */
        LastRun: {
            /** @enum {string} */
            action: "apply" | "update" | "remove" | "repair" | "accept" | "renew" | "converge";
            /** @enum {string} */
            state: "running" | "succeeded" | "rolled_back" | "blocked";
            /**
             * Format: date-time
             * @example 2026-01-31T12:00:00.000Z
             */
            startedAt: string;
            finishedAt: string | null;
            steps: {
                name: string;
                status: string;
                detail?: string;
            }[];
        };
        /** @description One run with its events. */
        Run: {
            /** @enum {string} */
            action: "apply" | "update" | "remove" | "repair" | "accept" | "renew" | "converge";
            /** @enum {string} */
            state: "running" | "succeeded" | "rolled_back" | "blocked";
            /**
             * Format: date-time
             * @example 2026-01-31T12:00:00.000Z
             */
            startedAt: string;
            finishedAt: string | null;
            /** @description Who requested the run. Only internal callers see it. */
            actor?: string;
            events: {
                id: string;
                /** @enum {string} */
                name: "started" | "done" | "failed" | "undoing" | "undone" | "undo_failed" | "end";
                /** @description The step, or `run` for the run as a whole. */
                step: string;
                /**
                 * Format: date-time
                 * @example 2026-01-31T12:00:00.000Z
                 */
                at: string;
                detail?: string;
                /** @description The plan's state after the run. Only in the event `end`. */
                state?: string;
                verification?: {
                    primary: {
                        server: string;
                        ok: boolean;
                        detail: string;
                    } & {
                        [key: string]: unknown;
                    };
                    secondary: ({
                        server: string;
                        ok: boolean;
                        detail: string;
                    } & {
                        [key: string]: unknown;
                    }) | null;
                };
            }[];
        };
        /** @description The plan. */
        Plan: {
            /** @example plan_4c7p0wq9d2f6h8k1m3n5r7t9v0 */
            planId: string;
            /** @enum {string} */
            state: "planned" | "applying" | "applied" | "removing" | "removed" | "rolled_back" | "expired" | "blocked" | "replaced" | "released";
            /** @example hello.lab.test */
            host: string;
            /** @example https://hello.lab.test/ */
            url: string;
            request: components["schemas"]["PlannedRequest"];
            checks: components["schemas"]["Check"][];
            changes: components["schemas"]["Change"][];
            /** @description The steps of the apply, in the order in which they will run. Empty for plans of version 0.1. */
            steps: ("check" | "backup" | "certificate" | "proxy" | "dns" | "proxy-tls" | "verify")[];
            /** @description Covers the request, the changes and the steps. An apply does exactly this. */
            digest: string;
            /**
             * Format: date-time
             * @example 2026-01-31T12:00:00.000Z
             */
            createdAt: string;
            /**
             * Format: date-time
             * @example 2026-01-31T12:00:00.000Z
             */
            expiresAt: string;
            /** @description The address of the caller. Only internal callers see it. */
            createdBy?: string;
            /**
             * @description The network from which the plan was made. Only internal callers see it.
             * @enum {string}
             */
            network?: "internal" | "public" | "self";
            lastRun?: components["schemas"]["LastRun"];
            /** @description Every run, oldest first. Only internal callers see runs. */
            runs?: components["schemas"]["Run"][];
        };
        /** @description A hand-written site to take under management. */
        AdoptionRequest: {
            /**
             * @description The host of a hand-written site.
             * @example shop.lab.test
             */
            host: string;
            /** @description Default: /. */
            health?: string;
            /** @description Whether what cannot be carried over may be lost. */
            acceptLoss?: boolean;
            /**
             * Format: owner
             * @description Who is responsible: a person, a team or an e-mail address. Grants nothing. A plan with `replaces` keeps the former one. Only internal callers may send it and see it.
             * @example team-web
             */
            owner?: string;
            /**
             * Format: note
             * @description One line about what the exposure is for. A plan with `replaces` keeps the former one. Only internal callers may send it and see it.
             * @example Demo for the sales meeting
             */
            note?: string;
        };
        Difference: {
            /** @enum {string} */
            part: "entry" | "record" | "mark" | "certificate";
            /**
             * @description What of an entry differs, such as `backend` or the option `timeouts.read`; the name and type of a record; `served` for the certificate that is shown.
             * @example backend
             */
            field: string;
            expected: string;
            /** @description `missing`, or what was found instead, in words. Never a line of a file. */
            found: string;
            /** @description Whether a repair would overwrite a change that was made outside Drawbridge. */
            overwrite: boolean;
            /**
             * @description For an entry: the file on the disk of its edge that has this part. It may have parts of other hosts, too.
             * @example /etc/nginx/drawbridge/current/backends/05.map
             */
            file?: string;
            /** @description The line of that file. */
            line?: number;
            /** @description The same as `file`, for callers of earlier versions. */
            path?: string;
            /**
             * Format: date-time
             * @description When that file was last written.
             */
            since?: string;
            /** @description Other hosts that the same change touches: at most 20. */
            alsoTouches?: string[];
            /** @description How many more hosts it touches than `alsoTouches` names. */
            alsoTouchesMore?: number;
            /**
             * @description The server of the Secondary, for a file that differs there.
             * @example 73
             */
            server?: string;
        } & {
            [key: string]: unknown;
        };
        /** @description How an applied plan differs from files, zone and served certificate. */
        Drift: {
            planId: string;
            differences: components["schemas"]["Difference"][];
        } & {
            [key: string]: unknown;
        };
        PlanSummary: {
            /** @example plan_4c7p0wq9d2f6h8k1m3n5r7t9v0 */
            planId: string;
            /** @enum {string} */
            state: "planned" | "applying" | "applied" | "removing" | "removed" | "rolled_back" | "expired" | "blocked" | "replaced" | "released";
            /** @example hello.lab.test */
            host: string;
            /** @example https://hello.lab.test/ */
            url: string;
            request: components["schemas"]["PlannedRequest"];
            /**
             * Format: date-time
             * @example 2026-01-31T12:00:00.000Z
             */
            createdAt: string;
            /**
             * Format: date-time
             * @example 2026-01-31T12:00:00.000Z
             */
            expiresAt: string;
            /** @description The address of the caller. Only internal callers see it. */
            createdBy?: string;
            /**
             * @description The network from which the plan was made. Only internal callers see it.
             * @enum {string}
             */
            network?: "internal" | "public" | "self";
        };
        /** @description A page of plans, newest first. */
        PlanPage: {
            plans: components["schemas"]["PlanSummary"][];
            nextCursor: string | null;
        };
        /** @description Permits one run of the plan. */
        Capability: {
            /** @description Shown only once. Send it in the header within five minutes. Never log or store it. */
            capability: string;
            /** @enum {string} */
            header: "x-deploy-capability";
            planId: string;
            /** @enum {string} */
            action: "apply" | "remove" | "repair" | "accept" | "renew" | "adopt" | "release";
            boundTo: {
                planId: string;
                /** @enum {string} */
                action: "apply" | "remove" | "repair" | "accept" | "renew" | "adopt" | "release";
                /** @example 192.168.45.10 */
                ip: string;
            };
            /**
             * Format: date-time
             * @example 2026-01-31T12:00:00.000Z
             */
            expiresAt: string;
            /** @enum {number} */
            uses: 1;
        };
        Step: {
            /** @example proxy */
            name: string;
            /** @enum {string} */
            status: "done" | "failed" | "undone" | "undo_failed";
            ms: number;
            detail?: string;
        };
        /** @description The plan is applied. */
        Applied: {
            /** @example plan_4c7p0wq9d2f6h8k1m3n5r7t9v0 */
            planId: string;
            /** @enum {string} */
            state: "applied";
            /** @example hello.lab.test */
            host: string;
            /** @example https://hello.lab.test/ */
            url: string;
            steps: components["schemas"]["Step"][];
            verification: {
                primary: {
                    server: string;
                    ok: boolean;
                    detail: string;
                } & {
                    [key: string]: unknown;
                };
                secondary: ({
                    server: string;
                    ok: boolean;
                    detail: string;
                } & {
                    [key: string]: unknown;
                }) | null;
            };
            warnings: string[];
            /**
             * Format: date-time
             * @example 2026-01-31T12:00:00.000Z
             */
            appliedAt: string;
        };
        /** @description The run has started. */
        Accepted: {
            /** @example plan_4c7p0wq9d2f6h8k1m3n5r7t9v0 */
            planId: string;
            /** @example hello.lab.test */
            host: string;
            /** @description The path of the event stream with the steps. */
            progress: string;
        };
        /** @description The exposure is removed. */
        Removed: {
            /** @example plan_4c7p0wq9d2f6h8k1m3n5r7t9v0 */
            planId: string;
            /** @enum {string} */
            state: "removed";
            /** @example hello.lab.test */
            host: string;
            steps: components["schemas"]["Step"][];
            /**
             * Format: date-time
             * @example 2026-01-31T12:00:00.000Z
             */
            removedAt: string;
        };
        /** @description The new end of the exposure. */
        Extended: {
            /** @example plan_4c7p0wq9d2f6h8k1m3n5r7t9v0 */
            planId: string;
            /**
             * Format: date-time
             * @example 2026-01-31T12:00:00.000Z
             */
            expiresAt: string;
        };
        /** @description The new certificate of the host. */
        Renewed: {
            /** @example plan_4c7p0wq9d2f6h8k1m3n5r7t9v0 */
            planId: string;
            /** @enum {string} */
            state: "applied";
            /** @example hello.lab.test */
            host: string;
            certificate: {
                names: string[];
                /**
                 * Format: date-time
                 * @example 2026-01-31T12:00:00.000Z
                 */
                notBefore: string;
                /**
                 * Format: date-time
                 * @example 2026-01-31T12:00:00.000Z
                 */
                notAfter: string;
                /** @description SHA-256 of the certificate. */
                fingerprint: string;
                /**
                 * @description `issued`: the authority issued a new one. `reused`: the certificate folders had a better one.
                 * @enum {string}
                 */
                source: "issued" | "reused";
            };
            warnings: string[];
            /**
             * Format: date-time
             * @example 2026-01-31T12:00:00.000Z
             */
            renewedAt: string;
        };
        /** @description The exposure is as its plan says again. */
        Repaired: {
            /** @example plan_4c7p0wq9d2f6h8k1m3n5r7t9v0 */
            planId: string;
            /** @enum {string} */
            state: "applied";
            /** @example hello.lab.test */
            host: string;
            /** @example https://hello.lab.test/ */
            url: string;
            steps: components["schemas"]["Step"][];
            verification: {
                primary: {
                    server: string;
                    ok: boolean;
                    detail: string;
                } & {
                    [key: string]: unknown;
                };
                secondary: ({
                    server: string;
                    ok: boolean;
                    detail: string;
                } & {
                    [key: string]: unknown;
                }) | null;
            };
            warnings: string[];
            /**
             * Format: date-time
             * @example 2026-01-31T12:00:00.000Z
             */
            repairedAt: string;
        };
        /** @description Drawbridge no longer manages the host. */
        Released: {
            /** @example plan_4c7p0wq9d2f6h8k1m3n5r7t9v0 */
            planId: string;
            /** @enum {string} */
            state: "released";
            /** @example hello.lab.test */
            host: string;
            steps: components["schemas"]["Step"][];
            /** @description The path of the file on the Primary that serves the host from now on. Null: no file was written. */
            file: string | null;
            warnings: string[];
            /**
             * Format: date-time
             * @example 2026-01-31T12:00:00.000Z
             */
            releasedAt: string;
        };
        /** @description What happened to a step. */
        Progress: {
            /** @enum {string} */
            action: "apply" | "update" | "remove" | "repair" | "accept" | "renew" | "converge";
            /** @example proxy */
            step: string;
            /**
             * Format: date-time
             * @example 2026-01-31T12:00:00.000Z
             */
            at: string;
            detail?: string;
            /** @description The plan's state after the run. Only in the event `end`. */
            state?: string;
            verification?: {
                primary: {
                    server: string;
                    ok: boolean;
                    detail: string;
                } & {
                    [key: string]: unknown;
                };
                secondary: ({
                    server: string;
                    ok: boolean;
                    detail: string;
                } & {
                    [key: string]: unknown;
                }) | null;
            };
        };
        Event: {
            /** @example evt_4f1c2b7a9d0e3f5a6b8c7d9e0f */
            id: string;
            /** @description The position among all events. */
            seq: number;
            /** @enum {string} */
            type: "plan.refused" | "exposure.applied" | "exposure.updated" | "exposure.extended" | "exposure.repaired" | "exposure.released" | "exposure.rolled_back" | "exposure.blocked" | "exposure.removed" | "exposure.expired" | "host.badge" | "host.alert" | "host.alert_ended" | "host.muted" | "host.unmuted" | "certificate.warning" | "certificate.critical" | "certificate.expired" | "certificate.recovered" | "certificate.renewed" | "certificate.renewal_failed";
            /**
             * Format: date-time
             * @example 2026-01-31T12:00:00.000Z
             */
            timestamp: string;
            data: {
                /** @example hello.lab.test */
                host: string;
                planId?: string;
                facts: {
                    [key: string]: string | number | boolean | null;
                };
            };
        };
        /** @description A page of events. */
        RecentEvents: {
            /** @description Oldest first. */
            events: components["schemas"]["Event"][];
            /** @description The position of the newest event: where a stream goes on. */
            head: number;
            /** @description The next value of `before`. Null at the beginning. A page may be empty and still have one. */
            nextBefore: number | null;
        };
        AuditLine: {
            seq: number;
            /**
             * Format: date-time
             * @example 2026-01-31T12:00:00.000Z
             */
            at: string;
            actor: string;
            /** @enum {string} */
            network: "internal" | "public" | "self";
            action: string;
            /** @enum {string} */
            outcome: "ok" | "refused" | "failed" | "rolled_back" | "blocked";
            code?: string;
            planId?: string;
            host?: string;
            /** @description A flat object. `right` says what authorized the action: `capability`, `admin_token`, `capability_and_admin_token`, `network`, `schedule` or `console`. */
            facts?: {
                [key: string]: string | number | boolean | null;
            };
            /** @description The hash of the previous line. */
            previous: string;
            hash: string;
        };
        /** @description A page of audit lines. */
        AuditPage: {
            /** @description Oldest first. */
            lines: components["schemas"]["AuditLine"][];
            /** @description The position of the newest line. */
            head: number;
            /** @description The next value of `after`. Null at the end. */
            nextAfter: number | null;
        };
        Webhook: {
            name: string;
            /** @description The origin of the receiver, without path and query. */
            receiver: string;
            events: string[] | null;
            hosts: string[] | null;
            delivered: number;
            pending: number;
            /** @description The number of abandoned events. */
            dead: number;
            /** @description At least one pending event has failed before. */
            failing: boolean;
            lastDeliveredAt: string | null;
            lastFailedAt: string | null;
            lastFault: string | null;
            /** @description The twenty newest. */
            deadLetters: {
                id: string;
                type: string;
                host: string;
                /**
                 * Format: date-time
                 * @example 2026-01-31T12:00:00.000Z
                 */
                at: string;
                tries: number;
                fault: string;
            }[];
        };
        /** @description Every configured webhook. */
        Webhooks: {
            webhooks: components["schemas"]["Webhook"][];
        };
        /** @description The state of the host and its last check. */
        Health: {
            /** @example hello.lab.test */
            host: string;
            /**
             * @description RUNNING, HTTP nnn, DOWN, NO DNS, CERT, DRIFT or PENDING.
             * @example RUNNING
             * @example HTTP 502
             */
            badge: string;
            server: string | null;
            /** @description False: the host is in the edge's configuration, but Drawbridge did not create it. */
            managed: boolean;
            tls: boolean;
            /**
             * @description The address that a visitor opens.
             * @example https://hello.lab.test/
             */
            url: string;
            since: string | null;
            checkedAt: string | null;
            latencyMs: number | null;
            uptime24h: number | null;
            /** @description One character per half hour, oldest first. 9: all checks succeeded. 0 to 8: that many tenths. -: no checks. */
            strip: string;
            /** @description Milliseconds, oldest first. */
            latencies: number[];
            certificate: {
                /**
                 * Format: date-time
                 * @example 2026-01-31T12:00:00.000Z
                 */
                notAfter: string;
                /** @enum {string} */
                level: "ok" | "warning" | "critical" | "expired";
                /** @description The name of the authority. Absent where it is not known. */
                issuer?: string;
                /** @description At most 20. */
                names?: string[];
            } | null;
            expiresAt: string | null;
            /** @description Only internal callers see it. */
            planId?: string;
            /** @description The port of the backend. Only internal callers see it. */
            port?: number;
            /** @description True: a rollback failed, and no run can change the host until `drawbridge resolve`. Only internal callers see it. */
            blocked?: boolean;
            /** @description True: the edge answers visitors with the maintenance page. Only internal callers see it. */
            maintenance?: boolean;
            /** @description Who is responsible. Only internal callers see it. */
            owner?: string;
            /** @description What the exposure is for. Only internal callers see it. */
            note?: string;
            /** @description The host is checked, but does not need attention, and its trouble causes no alert and no webhook. Absent if it is not muted. Only internal callers see it. */
            muted?: {
                since: string | null;
                until: string | null;
                /**
                 * @description The address of the caller who muted the host, or `configuration`.
                 * @example 192.168.45.10
                 */
                by: string;
                note?: string;
            };
            /**
             * @description How the entry of the host stands on the Secondary. Only internal callers see it. Absent where it is not known.
             * @enum {string}
             */
            secondary?: "in_step" | "missing" | "differs";
            lastCheck: {
                /**
                 * Format: date-time
                 * @example 2026-01-31T12:00:00.000Z
                 */
                at: string;
                ok: boolean;
                httpStatus: number | null;
                latencyMs: number | null;
                reason: ("refused" | "unreachable" | "timeout" | "handshake_refused" | "not_http" | "unknown_host") | null;
            } | null;
            configPath: string | null;
        };
        /** @description The state of a host. */
        HostRow: {
            /** @example hello.lab.test */
            host: string;
            /**
             * @description RUNNING, HTTP nnn, DOWN, NO DNS, CERT, DRIFT or PENDING.
             * @example RUNNING
             * @example HTTP 502
             */
            badge: string;
            server: string | null;
            /** @description False: the host is in the edge's configuration, but Drawbridge did not create it. */
            managed: boolean;
            tls: boolean;
            /**
             * @description The address that a visitor opens.
             * @example https://hello.lab.test/
             */
            url: string;
            since: string | null;
            checkedAt: string | null;
            latencyMs: number | null;
            uptime24h: number | null;
            /** @description One character per half hour, oldest first. 9: all checks succeeded. 0 to 8: that many tenths. -: no checks. */
            strip: string;
            /** @description Milliseconds, oldest first. */
            latencies: number[];
            certificate: {
                /**
                 * Format: date-time
                 * @example 2026-01-31T12:00:00.000Z
                 */
                notAfter: string;
                /** @enum {string} */
                level: "ok" | "warning" | "critical" | "expired";
                /** @description The name of the authority. Absent where it is not known. */
                issuer?: string;
                /** @description At most 20. */
                names?: string[];
            } | null;
            expiresAt: string | null;
            /** @description Only internal callers see it. */
            planId?: string;
            /** @description The port of the backend. Only internal callers see it. */
            port?: number;
            /** @description True: a rollback failed, and no run can change the host until `drawbridge resolve`. Only internal callers see it. */
            blocked?: boolean;
            /** @description True: the edge answers visitors with the maintenance page. Only internal callers see it. */
            maintenance?: boolean;
            /** @description Who is responsible. Only internal callers see it. */
            owner?: string;
            /** @description What the exposure is for. Only internal callers see it. */
            note?: string;
            /** @description The host is checked, but does not need attention, and its trouble causes no alert and no webhook. Absent if it is not muted. Only internal callers see it. */
            muted?: {
                since: string | null;
                until: string | null;
                /**
                 * @description The address of the caller who muted the host, or `configuration`.
                 * @example 192.168.45.10
                 */
                by: string;
                note?: string;
            };
            /**
             * @description How the entry of the host stands on the Secondary. Only internal callers see it. Absent where it is not known.
             * @enum {string}
             */
            secondary?: "in_step" | "missing" | "differs";
        };
        EdgeStanding: {
            /** @example 73 */
            server: string;
            inStep: boolean;
            /** @description The number of hosts that the edge does not have as the store says. */
            hosts: number;
            /** @description The number of hosts that this store does not know. They are never changed. */
            unknown: number;
            /** @description Files that hosts share on the edge, and how many of their lines belong to no host. `file` is a path in the folder of the edge. These lines are drift of the edge and of no host; `drawbridge doctor` tells how to remove them. */
            stray: {
                file: string;
                lines: number;
            }[];
            outOfStep: {
                /** @enum {string} */
                cause: "away" | "config_broken" | "disk_full" | "not_writable" | "removal_refused" | "catching_up" | "restored" | "other";
                /**
                 * Format: date-time
                 * @example 2026-01-31T12:00:00.000Z
                 */
                since: string;
                detail: string;
            } | null;
        };
        ServedPattern: {
            /**
             * @description As in server_name. A name that is not plain is a quoted JSON string.
             * @example *.example.test
             */
            name: string;
            /** @enum {string} */
            kind: "wildcard" | "pattern";
            /** @description The path of the file with the server block. */
            configPath: string;
            line: number;
            tls: boolean;
        };
        /** @description A page of hosts. */
        Hosts: {
            hosts: components["schemas"]["HostRow"][];
            /** @description The number of all hosts. */
            total: number;
            /** @description The number of hosts that match the query. */
            matched: number;
            nextCursor: string | null;
            /** @description The number of all hosts by badge. */
            counts: {
                [key: string]: number;
            };
            servers: string[];
            /** @description How far each edge of this instance is from the store. Only internal callers see it. */
            edges?: components["schemas"]["EdgeStanding"][];
            /** @description Names of server blocks that stand for many hosts: wildcards and patterns. They are not checked. Only internal callers see them, on the first page. Absent if there are none. */
            patterns?: components["schemas"]["ServedPattern"][];
            /**
             * Format: date-time
             * @example 2026-01-31T12:00:00.000Z
             */
            at: string;
        };
        MuteRequest: {
            /**
             * @description In seconds. Without it the host is muted until somebody ends it.
             * @example 7200
             */
            expiresIn?: number;
            /**
             * Format: note
             * @description Why.
             * @example moves to a new server
             */
            note?: string;
        };
        Mute: {
            since: string | null;
            until: string | null;
            /**
             * @description The address of the caller who muted the host, or `configuration`.
             * @example 192.168.45.10
             */
            by: string;
            note?: string;
        };
        /** @description Whether and how the host is muted now. */
        Muted: {
            /** @example hello.lab.test */
            host: string;
            muted: components["schemas"]["Mute"] | null;
        };
        UnmuteRequest: Record<string, never>;
        Incident: {
            began: string | null;
            ended: string | null;
            /** @description The badges of the host in that time, in the order they came. */
            badges: string[];
        };
        /** @description Uptime and latency by hours or days, and incidents. */
        HostHistory: {
            /** @example hello.lab.test */
            host: string;
            days: number;
            /** @enum {string} */
            unit: "hour" | "day";
            /**
             * Format: date-time
             * @example 2026-01-31T12:00:00.000Z
             */
            from: string;
            uptime: number | null;
            /** @description Oldest first. An hour or day without a check is left out. */
            slots: {
                /**
                 * Format: date-time
                 * @example 2026-01-31T12:00:00.000Z
                 */
                at: string;
                checks: number;
                uptime: number | null;
                latencyMs: number | null;
            }[];
            /** @description The last hour by minutes, oldest first, for one day; `latencyMs` is the longest of each. Absent where another instance checks. */
            minutes?: {
                /**
                 * Format: date-time
                 * @example 2026-01-31T12:00:00.000Z
                 */
                at: string;
                checks: number;
                uptime: number | null;
                latencyMs: number | null;
            }[];
            lastGoodAt: string | null;
            /** @description The times in which the host was not well, newest first. */
            incidents: components["schemas"]["Incident"][];
        };
        /** @description The links from the visitor to the backend, and the cause. */
        Diagnosis: {
            /** @example hello.lab.test */
            host: string;
            /**
             * @description The badge after this inspection.
             * @example RUNNING
             * @example HTTP 502
             */
            badge: string;
            /** @description False: the host is in the edge's configuration, but Drawbridge did not create it. */
            managed: boolean;
            /**
             * @description The plan of a managed host. Only internal callers see it.
             * @example plan_4c7p0wq9d2f6h8k1m3n5r7t9v0
             */
            planId?: string;
            /** @description The path of the file with its server block or its entry, never its content. A path that is not plain is a quoted JSON string. */
            configPath: string | null;
            configLine: number | null;
            listen: {
                /** @description `*` for all addresses. Null if the caller may not see it. */
                address: string | null;
                /** @description Null for a unix socket. */
                port: number | null;
                tls: boolean;
                defaultServer: boolean;
                /**
                 * @description Visitors come through a proxy that speaks the PROXY protocol.
                 * @enum {boolean}
                 */
                proxyProtocol?: true;
                /**
                 * @description Visitors come with HTTP/3 over UDP only.
                 * @enum {boolean}
                 */
                quic?: true;
            }[];
            /** @example http://192.168.45.25:3000 */
            proxyPass: string | null;
            /**
             * @description The id of the server, or its address if it has no id.
             * @example 25
             */
            server: string | null;
            /**
             * @description `unknown`: nothing was applied yet that could be compared, as after an apply that is blocked.
             * @enum {string}
             */
            file: "unchanged" | "edited" | "missing" | "not_ours" | "unknown";
            /** @description The links from the visitor to the backend, in order. */
            chain: {
                /** @enum {string} */
                link: "dns" | "edge" | "tls" | "server_block" | "proxy_pass" | "backend_tcp" | "backend_health" | "error_log";
                /** @description Null: not checked or not known; `detail` says why. */
                ok: boolean | null;
                detail: string;
            }[];
            cause: {
                /**
                 * @description Stable. docs/diagnosis.md explains each code.
                 * @enum {string}
                 */
                code: "healthy" | "blocked" | "nothing_listening" | "wrong_port" | "backend_timeout" | "backend_503" | "backend_error" | "backend_speaks_tls" | "upstream_name_unresolved" | "certificate_expired" | "certificate_wrong_name" | "certificate_expiring" | "tls_failed" | "records_changed" | "name_points_elsewhere" | "name_missing" | "dns_unknown" | "other_server_answers" | "file_edited" | "file_missing" | "not_loaded" | "edge_down" | "edge_config_broken" | "not_proxied" | "unknown";
                /**
                 * @description `good`: the host is healthy. `warning`: visitors notice nothing yet, or nobody can tell. `bad`: they notice it.
                 * @enum {string}
                 */
                level: "good" | "warning" | "bad";
                /** @description The cause in one sentence. */
                sentence: string;
                /** @description What to do next. */
                advice: string;
                /** @description What Drawbridge can do about it: `repair`, `overwrite` (repair with `overwrite: true`), `accept`, `renew`, `resolve` (a command on the server). Empty for public callers. */
                acts: ("repair" | "overwrite" | "accept" | "renew" | "resolve")[];
            };
            /**
             * Format: date-time
             * @example 2026-01-31T12:00:00.000Z
             */
            checkedAt: string;
            tookMs: number;
        };
        /** @description RFC 9457 problem. */
        Problem: {
            type: string;
            title: string;
            status: number;
            /** @description Stable. docs/errors.md explains each code. */
            code: string;
            detail: string;
            errors?: {
                field: string;
                message: string;
            }[];
            checks?: components["schemas"]["Check"][];
            retryable: boolean;
            /** @description Seconds. */
            retryAfter?: number;
            /** @description The plan that holds the host, with `plan_busy` and with a `dns_name_taken` by an exposure or run. `action` and `startedAt` are those of its run. Only internal callers see it. */
            holder?: {
                planId: string;
                /** @enum {string} */
                action?: "apply" | "update" | "remove" | "repair" | "accept" | "renew" | "converge";
                /**
                 * Format: date-time
                 * @example 2026-01-31T12:00:00.000Z
                 */
                startedAt?: string;
            } & {
                [key: string]: unknown;
            };
            nextAction: string;
            requestId: string;
        } & {
            [key: string]: unknown;
        };
    };
    responses: {
        /** @description `invalid_request`: The body is not sent as application/json. */
        unsupported_media_type: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {string} */
                    code?: "invalid_request";
                } & components["schemas"]["Problem"];
            };
        };
        /** @description `origin_not_allowed`: This origin may not call the service. */
        origin_not_allowed: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {string} */
                    code?: "origin_not_allowed";
                } & components["schemas"]["Problem"];
            };
        };
        /** @description `host_not_allowed`: The Host header is not an address of this service. */
        host_not_allowed: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {string} */
                    code?: "host_not_allowed";
                } & components["schemas"]["Problem"];
            };
        };
        /** @description `rate_limited`: Too many requests. */
        rate_limited: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {string} */
                    code?: "rate_limited";
                } & components["schemas"]["Problem"];
            };
        };
        /** @description `internal_error`: Internal error in Drawbridge. */
        internal_error: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {string} */
                    code?: "internal_error";
                } & components["schemas"]["Problem"];
            };
        };
        /** @description `unavailable`: The service cannot answer now. */
        unavailable: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {string} */
                    code?: "unavailable";
                } & components["schemas"]["Problem"];
            };
        };
        /** @description `invalid_request`: The request is not valid. */
        invalid_request: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {string} */
                    code?: "invalid_request";
                } & components["schemas"]["Problem"];
            };
        };
        /** @description `internal_network_required`: Only callers on the internal network may do this. `origin_not_allowed`: This origin may not call the service. */
        "internal_network_required.origin_not_allowed": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {string} */
                    code?: "internal_network_required" | "origin_not_allowed";
                } & components["schemas"]["Problem"];
            };
        };
        /** @description `plan_not_found`: The plan does not exist. */
        plan_not_found: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {string} */
                    code?: "plan_not_found";
                } & components["schemas"]["Problem"];
            };
        };
        /** @description `dns_name_taken`: The DNS name is taken. `proxy_name_taken`: The edge already serves this name. `proxy_config_broken`: The edge's nginx configuration is broken. `plan_not_applied`: The plan is not applied. `plan_stale`: The situation changed after the plan was made. `lease_not_longer`: Extend cannot shorten an exposure. */
        "dns_name_taken.proxy_name_taken.proxy_config_broken.plan_not_applied.plan_stale.lease_not_longer": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {string} */
                    code?: "dns_name_taken" | "proxy_name_taken" | "proxy_config_broken" | "plan_not_applied" | "plan_stale" | "lease_not_longer";
                } & components["schemas"]["Problem"];
            };
        };
        /** @description `payload_too_large`: The request body is too large. */
        payload_too_large: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {string} */
                    code?: "payload_too_large";
                } & components["schemas"]["Problem"];
            };
        };
        /** @description `server_not_allowed`: This server is not a deployment target. `zone_not_managed`: This zone is not managed here. `port_not_allowed`: This port is not allowed. `backend_unhealthy`: The backend is not healthy. `certificate_unavailable`: HTTPS is not possible for this name. */
        "server_not_allowed.zone_not_managed.port_not_allowed.backend_unhealthy.certificate_unavailable": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {string} */
                    code?: "server_not_allowed" | "zone_not_managed" | "port_not_allowed" | "backend_unhealthy" | "certificate_unavailable";
                } & components["schemas"]["Problem"];
            };
        };
        /** @description `dns_unavailable`: The DNS server gave no certain answer. `unavailable`: The service cannot answer now. */
        "dns_unavailable.unavailable": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {string} */
                    code?: "dns_unavailable" | "unavailable";
                } & components["schemas"]["Problem"];
            };
        };
        /** @description `internal_network_required`: Only callers on the internal network may do this. `adopt_not_allowed`: Adopting hand-written sites is off. `origin_not_allowed`: This origin may not call the service. */
        "internal_network_required.adopt_not_allowed.origin_not_allowed": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {string} */
                    code?: "internal_network_required" | "adopt_not_allowed" | "origin_not_allowed";
                } & components["schemas"]["Problem"];
            };
        };
        /** @description `host_not_found`: The edge does not serve this host. */
        host_not_found: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {string} */
                    code?: "host_not_found";
                } & components["schemas"]["Problem"];
            };
        };
        /** @description `loss_not_accepted`: Adopting this site would lose something. `dns_name_taken`: The DNS name is taken. `proxy_name_taken`: The edge already serves this name. `proxy_config_broken`: The edge's nginx configuration is broken. `plan_stale`: The situation changed after the plan was made. */
        "loss_not_accepted.dns_name_taken.proxy_name_taken.proxy_config_broken.plan_stale": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {string} */
                    code?: "loss_not_accepted" | "dns_name_taken" | "proxy_name_taken" | "proxy_config_broken" | "plan_stale";
                } & components["schemas"]["Problem"];
            };
        };
        /** @description `site_not_adoptable`: An exposure cannot stand for this site. `server_not_allowed`: This server is not a deployment target. `zone_not_managed`: This zone is not managed here. `port_not_allowed`: This port is not allowed. `backend_unhealthy`: The backend is not healthy. `certificate_unavailable`: HTTPS is not possible for this name. */
        "site_not_adoptable.server_not_allowed.zone_not_managed.port_not_allowed.backend_unhealthy.certificate_unavailable": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {string} */
                    code?: "site_not_adoptable" | "server_not_allowed" | "zone_not_managed" | "port_not_allowed" | "backend_unhealthy" | "certificate_unavailable";
                } & components["schemas"]["Problem"];
            };
        };
        /** @description `plan_not_applied`: The plan is not applied. */
        plan_not_applied: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {string} */
                    code?: "plan_not_applied";
                } & components["schemas"]["Problem"];
            };
        };
        /** @description `zone_not_managed`: This zone is not managed here. */
        zone_not_managed: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {string} */
                    code?: "zone_not_managed";
                } & components["schemas"]["Problem"];
            };
        };
        /** @description `internal_network_required`: Only callers on the internal network may do this. `admin_token_invalid`: The administrator token is not valid. `origin_not_allowed`: This origin may not call the service. */
        "internal_network_required.admin_token_invalid.origin_not_allowed": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {string} */
                    code?: "internal_network_required" | "admin_token_invalid" | "origin_not_allowed";
                } & components["schemas"]["Problem"];
            };
        };
        /** @description `plan_expired`: The plan has expired. */
        plan_expired: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {string} */
                    code?: "plan_expired";
                } & components["schemas"]["Problem"];
            };
        };
        /** @description `capability_required`: A capability is required. */
        capability_required: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {string} */
                    code?: "capability_required";
                } & components["schemas"]["Problem"];
            };
        };
        /** @description `internal_network_required`: Only callers on the internal network may do this. `capability_invalid`: The capability is not valid for this. `capability_expired`: The capability has expired. `capability_used`: The capability was already used. `admin_token_invalid`: The administrator token is not valid. `origin_not_allowed`: This origin may not call the service. */
        "internal_network_required.capability_invalid.capability_expired.capability_used.admin_token_invalid.origin_not_allowed": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {string} */
                    code?: "internal_network_required" | "capability_invalid" | "capability_expired" | "capability_used" | "admin_token_invalid" | "origin_not_allowed";
                } & components["schemas"]["Problem"];
            };
        };
        /** @description `plan_busy`: Another run holds this plan or host. `plan_already_applied`: The plan is already applied. `plan_stale`: The situation changed after the plan was made. `dns_name_taken`: The DNS name is taken. `proxy_name_taken`: The edge already serves this name. `proxy_config_broken`: The edge's nginx configuration is broken. */
        "plan_busy.plan_already_applied.plan_stale.dns_name_taken.proxy_name_taken.proxy_config_broken": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {string} */
                    code?: "plan_busy" | "plan_already_applied" | "plan_stale" | "dns_name_taken" | "proxy_name_taken" | "proxy_config_broken";
                } & components["schemas"]["Problem"];
            };
        };
        /** @description `rollback_blocked`: The rollback failed; the host is blocked. `internal_error`: Internal error in Drawbridge. */
        "rollback_blocked.internal_error": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {string} */
                    code?: "rollback_blocked" | "internal_error";
                } & components["schemas"]["Problem"];
            };
        };
        /** @description `apply_failed`: The apply failed and was rolled back. */
        apply_failed: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {string} */
                    code?: "apply_failed";
                } & components["schemas"]["Problem"];
            };
        };
        /** @description `plan_busy`: Another run holds this plan or host. `plan_not_applied`: The plan is not applied. `proxy_config_broken`: The edge's nginx configuration is broken. */
        "plan_busy.plan_not_applied.proxy_config_broken": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {string} */
                    code?: "plan_busy" | "plan_not_applied" | "proxy_config_broken";
                } & components["schemas"]["Problem"];
            };
        };
        /** @description `remove_failed`: The remove failed and was rolled back. */
        remove_failed: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {string} */
                    code?: "remove_failed";
                } & components["schemas"]["Problem"];
            };
        };
        /** @description `plan_busy`: Another run holds this plan or host. `plan_not_applied`: The plan is not applied. `lease_not_longer`: Extend cannot shorten an exposure. */
        "plan_busy.plan_not_applied.lease_not_longer": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {string} */
                    code?: "plan_busy" | "plan_not_applied" | "lease_not_longer";
                } & components["schemas"]["Problem"];
            };
        };
        /** @description `certificate_unavailable`: HTTPS is not possible for this name. */
        certificate_unavailable: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {string} */
                    code?: "certificate_unavailable";
                } & components["schemas"]["Problem"];
            };
        };
        /** @description `renew_failed`: The certificate was not renewed. */
        renew_failed: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {string} */
                    code?: "renew_failed";
                } & components["schemas"]["Problem"];
            };
        };
        /** @description `plan_busy`: Another run holds this plan or host. `plan_not_applied`: The plan is not applied. `changed_elsewhere`: A repair would overwrite what somebody else changed. `proxy_name_taken`: The edge already serves this name. `proxy_config_broken`: The edge's nginx configuration is broken. */
        "plan_busy.plan_not_applied.changed_elsewhere.proxy_name_taken.proxy_config_broken": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {string} */
                    code?: "plan_busy" | "plan_not_applied" | "changed_elsewhere" | "proxy_name_taken" | "proxy_config_broken";
                } & components["schemas"]["Problem"];
            };
        };
        /** @description `zone_not_managed`: This zone is not managed here. `certificate_unavailable`: HTTPS is not possible for this name. */
        "zone_not_managed.certificate_unavailable": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {string} */
                    code?: "zone_not_managed" | "certificate_unavailable";
                } & components["schemas"]["Problem"];
            };
        };
        /** @description `repair_failed`: The repair failed and was rolled back. */
        repair_failed: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {string} */
                    code?: "repair_failed";
                } & components["schemas"]["Problem"];
            };
        };
        /** @description `accept_failed`: The accept failed and was rolled back. */
        accept_failed: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {string} */
                    code?: "accept_failed";
                } & components["schemas"]["Problem"];
            };
        };
        /** @description `plan_busy`: Another run holds this plan or host. `plan_not_applied`: The plan is not applied. `proxy_config_broken`: The edge's nginx configuration is broken. `changed_elsewhere`: A repair would overwrite what somebody else changed. */
        "plan_busy.plan_not_applied.proxy_config_broken.changed_elsewhere": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {string} */
                    code?: "plan_busy" | "plan_not_applied" | "proxy_config_broken" | "changed_elsewhere";
                } & components["schemas"]["Problem"];
            };
        };
        /** @description `muted_by_configuration`: The configuration mutes this host. */
        muted_by_configuration: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {string} */
                    code?: "muted_by_configuration";
                } & components["schemas"]["Problem"];
            };
        };
    };
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    getPolicy: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The current policy. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "flow": "capability",
                     *       "servers": {
                     *         "targets": [
                     *           "23",
                     *           "25",
                     *           "253"
                     *         ],
                     *         "primary": "23",
                     *         "secondary": "73"
                     *       },
                     *       "zones": [
                     *         "lab.test"
                     *       ],
                     *       "internalNetworks": [
                     *         "192.168.45.0/24"
                     *       ],
                     *       "capability": {
                     *         "header": "x-deploy-capability",
                     *         "ttlSeconds": 300,
                     *         "uses": 1,
                     *         "boundTo": [
                     *           "plan",
                     *           "digest",
                     *           "ip",
                     *           "action"
                     *         ]
                     *       },
                     *       "adminToken": {
                     *         "accepted": false,
                     *         "header": "x-deploy-token"
                     *       },
                     *       "plan": {
                     *         "ttlSeconds": 86400
                     *       },
                     *       "ports": {
                     *         "allowed": [
                     *           [
                     *             80,
                     *             80
                     *           ],
                     *           [
                     *             443,
                     *             443
                     *           ],
                     *           [
                     *             1024,
                     *             65535
                     *           ]
                     *         ],
                     *         "denied": [
                     *           8045
                     *         ],
                     *         "deniedOn": {
                     *           "23": [
                     *             80,
                     *             443
                     *           ]
                     *         }
                     *       },
                     *       "health": {
                     *         "pattern": "^/",
                     *         "timeoutSeconds": 3
                     *       },
                     *       "rateLimits": {
                     *         "public": {
                     *           "plan": 30,
                     *           "diagnose": 30,
                     *           "read": 300,
                     *           "failedCredential": 10
                     *         },
                     *         "internal": {
                     *           "plan": 1200,
                     *           "diagnose": 1200,
                     *           "read": 1200,
                     *           "failedCredential": 1200
                     *         }
                     *       },
                     *       "conflictingRecordTypes": [
                     *         "A",
                     *         "AAAA",
                     *         "CNAME"
                     *       ],
                     *       "callOrder": [
                     *         "GET /api/policy",
                     *         "POST /api/deploy/plan"
                     *       ],
                     *       "caller": {
                     *         "network": "internal",
                     *         "may": [
                     *           "read",
                     *           "plan",
                     *           "token",
                     *           "apply",
                     *           "remove",
                     *           "repair",
                     *           "accept",
                     *           "renew"
                     *         ]
                     *       },
                     *       "apply": {
                     *         "possible": true,
                     *         "reasons": []
                     *       },
                     *       "version": "0.1.0"
                     *     }
                     */
                    "application/json": components["schemas"]["Policy"];
                };
            };
            403: components["responses"]["origin_not_allowed"];
            421: components["responses"]["host_not_allowed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["unavailable"];
        };
    };
    createPlan: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description One name bound to one backend. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["ExposureRequest"];
            };
        };
        responses: {
            /** @description The plan. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "planId": "plan_4c7p0wq9d2f6h8k1m3n5r7t9v0",
                     *       "state": "planned",
                     *       "host": "hello.lab.test",
                     *       "url": "https://hello.lab.test/",
                     *       "request": {
                     *         "zone": "lab.test",
                     *         "subdomain": "hello",
                     *         "server": "25",
                     *         "port": 3000,
                     *         "health": "/healthz",
                     *         "tls": true
                     *       },
                     *       "checks": [
                     *         {
                     *           "name": "health",
                     *           "status": "passed",
                     *           "detail": "The backend on server 25 answered HTTP 200 on its health path.",
                     *           "httpStatus": 200
                     *         },
                     *         {
                     *           "name": "dns",
                     *           "status": "passed",
                     *           "detail": "The name is free."
                     *         },
                     *         {
                     *           "name": "certificate",
                     *           "status": "passed",
                     *           "detail": "No installed certificate covers the name. A new one for hello.lab.test can be issued."
                     *         },
                     *         {
                     *           "name": "proxy",
                     *           "status": "passed",
                     *           "detail": "The edge's configuration is valid, and no other server block serves the name."
                     *         }
                     *       ],
                     *       "changes": [
                     *         {
                     *           "kind": "certificate",
                     *           "action": "issue",
                     *           "names": [
                     *             "hello.lab.test"
                     *           ]
                     *         },
                     *         {
                     *           "kind": "proxy",
                     *           "action": "create",
                     *           "serverName": "hello.lab.test",
                     *           "target": "http://192.168.45.25:3000",
                     *           "https": true
                     *         },
                     *         {
                     *           "kind": "dns",
                     *           "action": "create",
                     *           "name": "hello.lab.test",
                     *           "type": "A",
                     *           "ttl": 60,
                     *           "value": "192.168.45.23"
                     *         }
                     *       ],
                     *       "steps": [
                     *         "check",
                     *         "backup",
                     *         "certificate",
                     *         "proxy",
                     *         "dns",
                     *         "verify"
                     *       ],
                     *       "digest": "sha256:b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9",
                     *       "createdAt": "2026-01-31T12:00:00.000Z",
                     *       "expiresAt": "2026-02-01T12:00:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Plan"];
                };
            };
            400: components["responses"]["invalid_request"];
            403: components["responses"]["internal_network_required.origin_not_allowed"];
            404: components["responses"]["plan_not_found"];
            409: components["responses"]["dns_name_taken.proxy_name_taken.proxy_config_broken.plan_not_applied.plan_stale.lease_not_longer"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            421: components["responses"]["host_not_allowed"];
            422: components["responses"]["server_not_allowed.zone_not_managed.port_not_allowed.backend_unhealthy.certificate_unavailable"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["dns_unavailable.unavailable"];
        };
    };
    planAdoption: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description A hand-written site to take under management. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["AdoptionRequest"];
            };
        };
        responses: {
            /** @description The plan. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "planId": "plan_4c7p0wq9d2f6h8k1m3n5r7t9v0",
                     *       "state": "planned",
                     *       "host": "hello.lab.test",
                     *       "url": "https://hello.lab.test/",
                     *       "request": {
                     *         "zone": "lab.test",
                     *         "subdomain": "hello",
                     *         "server": "25",
                     *         "port": 3000,
                     *         "health": "/healthz",
                     *         "tls": true,
                     *         "adopt": {
                     *           "site": "sha256:b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9",
                     *           "text": "sha256:b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9"
                     *         }
                     *       },
                     *       "checks": [
                     *         {
                     *           "name": "health",
                     *           "status": "passed",
                     *           "detail": "The backend on server 25 answered HTTP 200 on its health path.",
                     *           "httpStatus": 200
                     *         },
                     *         {
                     *           "name": "dns",
                     *           "status": "passed",
                     *           "detail": "The name is free."
                     *         },
                     *         {
                     *           "name": "certificate",
                     *           "status": "passed",
                     *           "detail": "No installed certificate covers the name. A new one for hello.lab.test can be issued."
                     *         },
                     *         {
                     *           "name": "proxy",
                     *           "status": "passed",
                     *           "detail": "The edge's configuration is valid, and no other server block serves the name."
                     *         }
                     *       ],
                     *       "changes": [
                     *         {
                     *           "kind": "certificate",
                     *           "action": "reuse",
                     *           "names": [
                     *             "hello.lab.test"
                     *           ],
                     *           "notAfter": "2026-02-01T12:00:00.000Z"
                     *         },
                     *         {
                     *           "kind": "proxy",
                     *           "action": "adopt",
                     *           "serverName": "hello.lab.test",
                     *           "target": "http://192.168.45.25:3000",
                     *           "https": true
                     *         },
                     *         {
                     *           "kind": "dns",
                     *           "action": "keep",
                     *           "name": "hello.lab.test",
                     *           "type": "A",
                     *           "ttl": 3600,
                     *           "value": "192.168.45.23"
                     *         },
                     *         {
                     *           "kind": "dns",
                     *           "action": "create",
                     *           "name": "_drawbridge.hello.lab.test",
                     *           "type": "TXT",
                     *           "ttl": 60,
                     *           "value": "drawbridge"
                     *         }
                     *       ],
                     *       "steps": [
                     *         "check",
                     *         "backup",
                     *         "certificate",
                     *         "proxy",
                     *         "dns",
                     *         "verify"
                     *       ],
                     *       "digest": "sha256:b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9",
                     *       "createdAt": "2026-01-31T12:00:00.000Z",
                     *       "expiresAt": "2026-02-01T12:00:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Plan"];
                };
            };
            400: components["responses"]["invalid_request"];
            403: components["responses"]["internal_network_required.adopt_not_allowed.origin_not_allowed"];
            404: components["responses"]["host_not_found"];
            409: components["responses"]["loss_not_accepted.dns_name_taken.proxy_name_taken.proxy_config_broken.plan_stale"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            421: components["responses"]["host_not_allowed"];
            422: components["responses"]["site_not_adoptable.server_not_allowed.zone_not_managed.port_not_allowed.backend_unhealthy.certificate_unavailable"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["dns_unavailable.unavailable"];
        };
    };
    getPlan: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                planId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The plan. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "planId": "plan_4c7p0wq9d2f6h8k1m3n5r7t9v0",
                     *       "state": "applied",
                     *       "host": "hello.lab.test",
                     *       "url": "https://hello.lab.test/",
                     *       "request": {
                     *         "zone": "lab.test",
                     *         "subdomain": "hello",
                     *         "server": "25",
                     *         "port": 3000,
                     *         "health": "/healthz",
                     *         "tls": true
                     *       },
                     *       "checks": [
                     *         {
                     *           "name": "health",
                     *           "status": "passed",
                     *           "detail": "The backend on server 25 answered HTTP 200 on its health path.",
                     *           "httpStatus": 200
                     *         },
                     *         {
                     *           "name": "dns",
                     *           "status": "passed",
                     *           "detail": "The name is free."
                     *         },
                     *         {
                     *           "name": "certificate",
                     *           "status": "passed",
                     *           "detail": "No installed certificate covers the name. A new one for hello.lab.test can be issued."
                     *         },
                     *         {
                     *           "name": "proxy",
                     *           "status": "passed",
                     *           "detail": "The edge's configuration is valid, and no other server block serves the name."
                     *         }
                     *       ],
                     *       "changes": [
                     *         {
                     *           "kind": "certificate",
                     *           "action": "issue",
                     *           "names": [
                     *             "hello.lab.test"
                     *           ]
                     *         },
                     *         {
                     *           "kind": "proxy",
                     *           "action": "create",
                     *           "serverName": "hello.lab.test",
                     *           "target": "http://192.168.45.25:3000",
                     *           "https": true
                     *         },
                     *         {
                     *           "kind": "dns",
                     *           "action": "create",
                     *           "name": "hello.lab.test",
                     *           "type": "A",
                     *           "ttl": 60,
                     *           "value": "192.168.45.23"
                     *         }
                     *       ],
                     *       "steps": [
                     *         "check",
                     *         "backup",
                     *         "certificate",
                     *         "proxy",
                     *         "dns",
                     *         "verify"
                     *       ],
                     *       "digest": "sha256:b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9",
                     *       "createdAt": "2026-01-31T12:00:00.000Z",
                     *       "expiresAt": "2026-02-01T12:00:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Plan"];
                };
            };
            403: components["responses"]["origin_not_allowed"];
            404: components["responses"]["plan_not_found"];
            421: components["responses"]["host_not_allowed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["unavailable"];
        };
    };
    getDrift: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                planId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description How an applied plan differs from files, zone and served certificate. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "planId": "plan_4c7p0wq9d2f6h8k1m3n5r7t9v0",
                     *       "differences": [
                     *         {
                     *           "part": "entry",
                     *           "field": "backend",
                     *           "expected": "http://192.168.45.25:3000",
                     *           "found": "http://192.168.45.25:3999",
                     *           "overwrite": true,
                     *           "file": "/etc/nginx/drawbridge/current/backends/05.map",
                     *           "line": 7,
                     *           "path": "/etc/nginx/drawbridge/current/backends/05.map",
                     *           "since": "2026-01-31T12:00:00.000Z"
                     *         },
                     *         {
                     *           "part": "record",
                     *           "field": "hello.lab.test A",
                     *           "expected": "192.168.45.23",
                     *           "found": "192.168.45.99",
                     *           "overwrite": true
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["Drift"];
                };
            };
            403: components["responses"]["internal_network_required.origin_not_allowed"];
            404: components["responses"]["plan_not_found"];
            409: components["responses"]["plan_not_applied"];
            421: components["responses"]["host_not_allowed"];
            422: components["responses"]["zone_not_managed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["dns_unavailable.unavailable"];
        };
    };
    listPlans: {
        parameters: {
            query?: {
                /** @description 1 to 200. Default: 50. */
                limit?: string;
                /** @description The `nextCursor` of the previous page. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of plans, newest first. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "plans": [
                     *         {
                     *           "planId": "plan_4c7p0wq9d2f6h8k1m3n5r7t9v0",
                     *           "state": "planned",
                     *           "host": "hello.lab.test",
                     *           "url": "https://hello.lab.test/",
                     *           "request": {
                     *             "zone": "lab.test",
                     *             "subdomain": "hello",
                     *             "server": "25",
                     *             "port": 3000,
                     *             "health": "/healthz",
                     *             "tls": true
                     *           },
                     *           "createdAt": "2026-01-31T12:00:00.000Z",
                     *           "expiresAt": "2026-02-01T12:00:00.000Z",
                     *           "createdBy": "192.168.45.10",
                     *           "network": "internal"
                     *         }
                     *       ],
                     *       "nextCursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["PlanPage"];
                };
            };
            400: components["responses"]["invalid_request"];
            403: components["responses"]["internal_network_required.origin_not_allowed"];
            421: components["responses"]["host_not_allowed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["unavailable"];
        };
    };
    issueCapability: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @example plan_4c7p0wq9d2f6h8k1m3n5r7t9v0 */
                    planId: string;
                    /**
                     * @description The action of the capability. Default: apply.
                     * @enum {string}
                     */
                    action?: "apply" | "remove" | "repair" | "accept" | "renew" | "adopt" | "release";
                };
            };
        };
        responses: {
            /** @description Permits one run of the plan. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "capability": "cap_shown-once-and-never-again",
                     *       "header": "x-deploy-capability",
                     *       "planId": "plan_4c7p0wq9d2f6h8k1m3n5r7t9v0",
                     *       "action": "apply",
                     *       "boundTo": {
                     *         "planId": "plan_4c7p0wq9d2f6h8k1m3n5r7t9v0",
                     *         "action": "apply",
                     *         "ip": "192.168.45.10"
                     *       },
                     *       "expiresAt": "2026-01-31T12:00:00.000Z",
                     *       "uses": 1
                     *     }
                     */
                    "application/json": components["schemas"]["Capability"];
                };
            };
            400: components["responses"]["invalid_request"];
            403: components["responses"]["internal_network_required.admin_token_invalid.origin_not_allowed"];
            404: components["responses"]["plan_not_found"];
            410: components["responses"]["plan_expired"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            421: components["responses"]["host_not_allowed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["unavailable"];
        };
    };
    applyPlan: {
        parameters: {
            query?: never;
            header?: {
                /** @description `respond-async`: answer 202 as soon as the run has started. Other preferences are ignored. */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @example plan_4c7p0wq9d2f6h8k1m3n5r7t9v0 */
                    planId: string;
                };
            };
        };
        responses: {
            /** @description The plan is applied. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "planId": "plan_4c7p0wq9d2f6h8k1m3n5r7t9v0",
                     *       "state": "applied",
                     *       "host": "hello.lab.test",
                     *       "url": "https://hello.lab.test/",
                     *       "steps": [
                     *         {
                     *           "name": "proxy",
                     *           "status": "done",
                     *           "ms": 41.2
                     *         },
                     *         {
                     *           "name": "dns",
                     *           "status": "done",
                     *           "ms": 3.8
                     *         }
                     *       ],
                     *       "verification": {
                     *         "primary": {
                     *           "server": "23",
                     *           "ok": true,
                     *           "detail": "HTTP 200"
                     *         },
                     *         "secondary": {
                     *           "server": "73",
                     *           "ok": true,
                     *           "optional": true,
                     *           "detail": "HTTP 200"
                     *         }
                     *       },
                     *       "warnings": [],
                     *       "appliedAt": "2026-01-31T12:00:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Applied"];
                };
            };
            /** @description The run has started. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "planId": "plan_4c7p0wq9d2f6h8k1m3n5r7t9v0",
                     *       "host": "hello.lab.test",
                     *       "progress": "/api/deploy/plans/plan_4c7p0wq9d2f6h8k1m3n5r7t9v0/events"
                     *     }
                     */
                    "application/json": components["schemas"]["Accepted"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["capability_required"];
            403: components["responses"]["internal_network_required.capability_invalid.capability_expired.capability_used.admin_token_invalid.origin_not_allowed"];
            404: components["responses"]["plan_not_found"];
            409: components["responses"]["plan_busy.plan_already_applied.plan_stale.dns_name_taken.proxy_name_taken.proxy_config_broken"];
            410: components["responses"]["plan_expired"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            421: components["responses"]["host_not_allowed"];
            422: components["responses"]["server_not_allowed.zone_not_managed.port_not_allowed.backend_unhealthy.certificate_unavailable"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["rollback_blocked.internal_error"];
            502: components["responses"]["apply_failed"];
            503: components["responses"]["dns_unavailable.unavailable"];
        };
    };
    removeExposure: {
        parameters: {
            query?: never;
            header?: {
                /** @description `respond-async`: answer 202 as soon as the run has started. Other preferences are ignored. */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @example plan_4c7p0wq9d2f6h8k1m3n5r7t9v0 */
                    planId: string;
                };
            };
        };
        responses: {
            /** @description The exposure is removed. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "planId": "plan_4c7p0wq9d2f6h8k1m3n5r7t9v0",
                     *       "state": "removed",
                     *       "host": "hello.lab.test",
                     *       "steps": [
                     *         {
                     *           "name": "proxy",
                     *           "status": "done",
                     *           "ms": 41.2
                     *         },
                     *         {
                     *           "name": "dns",
                     *           "status": "done",
                     *           "ms": 3.8
                     *         }
                     *       ],
                     *       "removedAt": "2026-01-31T12:00:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Removed"];
                };
            };
            /** @description The run has started. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "planId": "plan_4c7p0wq9d2f6h8k1m3n5r7t9v0",
                     *       "host": "hello.lab.test",
                     *       "progress": "/api/deploy/plans/plan_4c7p0wq9d2f6h8k1m3n5r7t9v0/events"
                     *     }
                     */
                    "application/json": components["schemas"]["Accepted"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["capability_required"];
            403: components["responses"]["internal_network_required.capability_invalid.capability_expired.capability_used.admin_token_invalid.origin_not_allowed"];
            404: components["responses"]["plan_not_found"];
            409: components["responses"]["plan_busy.plan_not_applied.proxy_config_broken"];
            410: components["responses"]["plan_expired"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            421: components["responses"]["host_not_allowed"];
            422: components["responses"]["zone_not_managed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["rollback_blocked.internal_error"];
            502: components["responses"]["remove_failed"];
            503: components["responses"]["unavailable"];
        };
    };
    extendExposure: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @example plan_4c7p0wq9d2f6h8k1m3n5r7t9v0 */
                    planId: string;
                    /** @description Seconds from now. */
                    expiresIn: number;
                };
            };
        };
        responses: {
            /** @description The new end of the exposure. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "planId": "plan_4c7p0wq9d2f6h8k1m3n5r7t9v0",
                     *       "expiresAt": "2026-02-01T12:00:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Extended"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["capability_required"];
            403: components["responses"]["internal_network_required.capability_invalid.capability_expired.capability_used.admin_token_invalid.origin_not_allowed"];
            404: components["responses"]["plan_not_found"];
            409: components["responses"]["plan_busy.plan_not_applied.lease_not_longer"];
            410: components["responses"]["plan_expired"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            421: components["responses"]["host_not_allowed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["unavailable"];
        };
    };
    renewCertificate: {
        parameters: {
            query?: never;
            header?: {
                /** @description `respond-async`: answer 202 as soon as the run has started. Other preferences are ignored. */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @example plan_4c7p0wq9d2f6h8k1m3n5r7t9v0 */
                    planId: string;
                };
            };
        };
        responses: {
            /** @description The new certificate of the host. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "planId": "plan_4c7p0wq9d2f6h8k1m3n5r7t9v0",
                     *       "state": "applied",
                     *       "host": "hello.lab.test",
                     *       "certificate": {
                     *         "names": [
                     *           "hello.lab.test"
                     *         ],
                     *         "notBefore": "2026-01-31T12:00:00.000Z",
                     *         "notAfter": "2026-05-01T12:00:00.000Z",
                     *         "fingerprint": "A1:B2:C3",
                     *         "source": "issued"
                     *       },
                     *       "warnings": [],
                     *       "renewedAt": "2026-01-31T12:00:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Renewed"];
                };
            };
            /** @description The run has started. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "planId": "plan_4c7p0wq9d2f6h8k1m3n5r7t9v0",
                     *       "host": "hello.lab.test",
                     *       "progress": "/api/deploy/plans/plan_4c7p0wq9d2f6h8k1m3n5r7t9v0/events"
                     *     }
                     */
                    "application/json": components["schemas"]["Accepted"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["capability_required"];
            403: components["responses"]["internal_network_required.capability_invalid.capability_expired.capability_used.admin_token_invalid.origin_not_allowed"];
            404: components["responses"]["plan_not_found"];
            409: components["responses"]["plan_busy.plan_not_applied.proxy_config_broken"];
            410: components["responses"]["plan_expired"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            421: components["responses"]["host_not_allowed"];
            422: components["responses"]["certificate_unavailable"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            502: components["responses"]["renew_failed"];
            503: components["responses"]["unavailable"];
        };
    };
    repairExposure: {
        parameters: {
            query?: never;
            header?: {
                /** @description `respond-async`: answer 202 as soon as the run has started. Other preferences are ignored. */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @example plan_4c7p0wq9d2f6h8k1m3n5r7t9v0 */
                    planId: string;
                    /** @description Whether to overwrite what was changed outside Drawbridge. Default: false. */
                    overwrite?: boolean;
                };
            };
        };
        responses: {
            /** @description The exposure is as its plan says again. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "planId": "plan_4c7p0wq9d2f6h8k1m3n5r7t9v0",
                     *       "state": "applied",
                     *       "host": "hello.lab.test",
                     *       "url": "https://hello.lab.test/",
                     *       "steps": [
                     *         {
                     *           "name": "proxy",
                     *           "status": "done",
                     *           "ms": 41.2
                     *         },
                     *         {
                     *           "name": "dns",
                     *           "status": "done",
                     *           "ms": 3.8
                     *         }
                     *       ],
                     *       "verification": {
                     *         "primary": {
                     *           "server": "23",
                     *           "ok": true,
                     *           "detail": "HTTP 200"
                     *         },
                     *         "secondary": {
                     *           "server": "73",
                     *           "ok": true,
                     *           "optional": true,
                     *           "detail": "HTTP 200"
                     *         }
                     *       },
                     *       "warnings": [],
                     *       "repairedAt": "2026-01-31T12:00:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Repaired"];
                };
            };
            /** @description The run has started. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "planId": "plan_4c7p0wq9d2f6h8k1m3n5r7t9v0",
                     *       "host": "hello.lab.test",
                     *       "progress": "/api/deploy/plans/plan_4c7p0wq9d2f6h8k1m3n5r7t9v0/events"
                     *     }
                     */
                    "application/json": components["schemas"]["Accepted"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["capability_required"];
            403: components["responses"]["internal_network_required.capability_invalid.capability_expired.capability_used.admin_token_invalid.origin_not_allowed"];
            404: components["responses"]["plan_not_found"];
            409: components["responses"]["plan_busy.plan_not_applied.changed_elsewhere.proxy_name_taken.proxy_config_broken"];
            410: components["responses"]["plan_expired"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            421: components["responses"]["host_not_allowed"];
            422: components["responses"]["zone_not_managed.certificate_unavailable"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["rollback_blocked.internal_error"];
            502: components["responses"]["repair_failed"];
            503: components["responses"]["dns_unavailable.unavailable"];
        };
    };
    acceptExposure: {
        parameters: {
            query?: never;
            header?: {
                /** @description `respond-async`: answer 202 as soon as the run has started. Other preferences are ignored. */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @example plan_4c7p0wq9d2f6h8k1m3n5r7t9v0 */
                    planId: string;
                };
            };
        };
        responses: {
            /** @description Drawbridge no longer manages the host. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "planId": "plan_4c7p0wq9d2f6h8k1m3n5r7t9v0",
                     *       "state": "released",
                     *       "host": "hello.lab.test",
                     *       "steps": [
                     *         {
                     *           "name": "proxy",
                     *           "status": "done",
                     *           "ms": 38.5
                     *         }
                     *       ],
                     *       "file": "/etc/nginx/drawbridge-released/hello.lab.test.conf",
                     *       "warnings": [
                     *         "Drawbridge no longer renews the certificate of hello.lab.test."
                     *       ],
                     *       "releasedAt": "2026-01-31T12:00:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Released"];
                };
            };
            /** @description The run has started. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "planId": "plan_4c7p0wq9d2f6h8k1m3n5r7t9v0",
                     *       "host": "hello.lab.test",
                     *       "progress": "/api/deploy/plans/plan_4c7p0wq9d2f6h8k1m3n5r7t9v0/events"
                     *     }
                     */
                    "application/json": components["schemas"]["Accepted"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["capability_required"];
            403: components["responses"]["internal_network_required.capability_invalid.capability_expired.capability_used.admin_token_invalid.origin_not_allowed"];
            404: components["responses"]["plan_not_found"];
            409: components["responses"]["plan_busy.plan_not_applied.proxy_config_broken"];
            410: components["responses"]["plan_expired"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            421: components["responses"]["host_not_allowed"];
            422: components["responses"]["zone_not_managed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["rollback_blocked.internal_error"];
            502: components["responses"]["accept_failed"];
            503: components["responses"]["dns_unavailable.unavailable"];
        };
    };
    releaseExposure: {
        parameters: {
            query?: never;
            header?: {
                /** @description `respond-async`: answer 202 as soon as the run has started. Other preferences are ignored. */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @example plan_4c7p0wq9d2f6h8k1m3n5r7t9v0 */
                    planId: string;
                };
            };
        };
        responses: {
            /** @description Drawbridge no longer manages the host. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "planId": "plan_4c7p0wq9d2f6h8k1m3n5r7t9v0",
                     *       "state": "released",
                     *       "host": "hello.lab.test",
                     *       "steps": [
                     *         {
                     *           "name": "proxy",
                     *           "status": "done",
                     *           "ms": 38.5
                     *         }
                     *       ],
                     *       "file": "/etc/nginx/drawbridge-released/hello.lab.test.conf",
                     *       "warnings": [],
                     *       "releasedAt": "2026-01-31T12:00:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Released"];
                };
            };
            /** @description The run has started. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "planId": "plan_4c7p0wq9d2f6h8k1m3n5r7t9v0",
                     *       "host": "hello.lab.test",
                     *       "progress": "/api/deploy/plans/plan_4c7p0wq9d2f6h8k1m3n5r7t9v0/events"
                     *     }
                     */
                    "application/json": components["schemas"]["Accepted"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["capability_required"];
            403: components["responses"]["internal_network_required.capability_invalid.capability_expired.capability_used.admin_token_invalid.origin_not_allowed"];
            404: components["responses"]["plan_not_found"];
            409: components["responses"]["plan_busy.plan_not_applied.proxy_config_broken.changed_elsewhere"];
            410: components["responses"]["plan_expired"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            421: components["responses"]["host_not_allowed"];
            422: components["responses"]["zone_not_managed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["rollback_blocked.internal_error"];
            502: components["responses"]["accept_failed"];
            503: components["responses"]["dns_unavailable.unavailable"];
        };
    };
    followPlan: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                planId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Each step as it starts and ends, and the end of the run. Public callers get only the end. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "action": "apply",
                     *       "step": "proxy",
                     *       "at": "2026-01-31T12:00:00.000Z"
                     *     }
                     */
                    "text/event-stream": components["schemas"]["Progress"];
                };
            };
            403: components["responses"]["origin_not_allowed"];
            404: components["responses"]["plan_not_found"];
            421: components["responses"]["host_not_allowed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["unavailable"];
        };
    };
    followEvents: {
        parameters: {
            query?: {
                /** @description Only these types, separated by commas. */
                type?: string;
                /** @description Only these hosts, separated by commas. */
                host?: string;
                /** @description The position to resume from, if Last-Event-ID is not sent. */
                after?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Each event as it happens. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "evt_4f1c2b7a9d0e3f5a6b8c7d9e0f",
                     *       "seq": 7,
                     *       "type": "exposure.applied",
                     *       "timestamp": "2026-01-31T12:00:00.000Z",
                     *       "data": {
                     *         "host": "hello.lab.test",
                     *         "planId": "plan_4c7p0wq9d2f6h8k1m3n5r7t9v0",
                     *         "facts": {
                     *           "url": "https://hello.lab.test/",
                     *           "server": "25",
                     *           "port": 3000,
                     *           "tls": true,
                     *           "expiresAt": null
                     *         }
                     *       }
                     *     }
                     */
                    "text/event-stream": components["schemas"]["Event"];
                };
            };
            400: components["responses"]["invalid_request"];
            403: components["responses"]["internal_network_required.origin_not_allowed"];
            421: components["responses"]["host_not_allowed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["unavailable"];
        };
    };
    listEvents: {
        parameters: {
            query?: {
                /** @description Only these types, separated by commas. */
                type?: string;
                /** @description Only these hosts, separated by commas. */
                host?: string;
                /** @description Only events before this position. Default: the newest. */
                before?: string;
                /** @description 1 to 1000; an answer has at most 500 events. Default: 100. */
                limit?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of events. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "events": [
                     *         {
                     *           "id": "evt_4f1c2b7a9d0e3f5a6b8c7d9e0f",
                     *           "seq": 7,
                     *           "type": "host.badge",
                     *           "timestamp": "2026-01-31T12:00:00.000Z",
                     *           "data": {
                     *             "host": "hello.lab.test",
                     *             "planId": "plan_4c7p0wq9d2f6h8k1m3n5r7t9v0",
                     *             "facts": {
                     *               "badge": "RUNNING",
                     *               "before": "PENDING",
                     *               "httpStatus": 200,
                     *               "reason": null
                     *             }
                     *           }
                     *         }
                     *       ],
                     *       "head": 7,
                     *       "nextBefore": 7
                     *     }
                     */
                    "application/json": components["schemas"]["RecentEvents"];
                };
            };
            400: components["responses"]["invalid_request"];
            403: components["responses"]["internal_network_required.origin_not_allowed"];
            421: components["responses"]["host_not_allowed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["unavailable"];
        };
    };
    readAudit: {
        parameters: {
            query?: {
                /** @description Lines after this position. Default: the newest lines. */
                after?: string;
                /** @description 1 to 1000; an answer has at most 500 lines. Default: 100. */
                limit?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of audit lines. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "lines": [
                     *         {
                     *           "seq": 1,
                     *           "at": "2026-01-31T12:00:00.000Z",
                     *           "actor": "192.168.45.10",
                     *           "network": "internal",
                     *           "action": "plan",
                     *           "outcome": "ok",
                     *           "planId": "plan_4c7p0wq9d2f6h8k1m3n5r7t9v0",
                     *           "host": "hello.lab.test",
                     *           "previous": "0000000000000000000000000000000000000000000000000000000000000000",
                     *           "hash": "b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9"
                     *         }
                     *       ],
                     *       "head": 1,
                     *       "nextAfter": null
                     *     }
                     */
                    "application/json": components["schemas"]["AuditPage"];
                };
            };
            400: components["responses"]["invalid_request"];
            403: components["responses"]["internal_network_required.origin_not_allowed"];
            421: components["responses"]["host_not_allowed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["unavailable"];
        };
    };
    listWebhooks: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Every configured webhook. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "webhooks": [
                     *         {
                     *           "name": "chat",
                     *           "receiver": "https://chat.example.test",
                     *           "events": [
                     *             "exposure.applied"
                     *           ],
                     *           "hosts": null,
                     *           "delivered": 41,
                     *           "pending": 1,
                     *           "dead": 1,
                     *           "failing": true,
                     *           "lastDeliveredAt": "2026-01-31T12:00:00.000Z",
                     *           "lastFailedAt": "2026-01-31T12:00:00.000Z",
                     *           "lastFault": "HTTP 500",
                     *           "deadLetters": [
                     *             {
                     *               "id": "evt_4f1c2b7a9d0e3f5a6b8c7d9e0f",
                     *               "type": "exposure.applied",
                     *               "host": "hello.lab.test",
                     *               "at": "2026-01-31T12:00:00.000Z",
                     *               "tries": 30,
                     *               "fault": "HTTP 500"
                     *             }
                     *           ]
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["Webhooks"];
                };
            };
            403: components["responses"]["internal_network_required.origin_not_allowed"];
            421: components["responses"]["host_not_allowed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["unavailable"];
        };
    };
    getHealth: {
        parameters: {
            query: {
                /** @example hello.lab.test */
                host: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The state of the host and its last check. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "host": "hello.lab.test",
                     *       "badge": "RUNNING",
                     *       "server": "25",
                     *       "managed": true,
                     *       "tls": true,
                     *       "url": "https://hello.lab.test/",
                     *       "since": "2026-01-31T12:00:00.000Z",
                     *       "checkedAt": "2026-01-31T12:00:00.000Z",
                     *       "latencyMs": 4,
                     *       "uptime24h": 1,
                     *       "strip": "----------------------------------------99999999",
                     *       "latencies": [
                     *         4,
                     *         5,
                     *         4
                     *       ],
                     *       "certificate": {
                     *         "notAfter": "2026-02-01T12:00:00.000Z",
                     *         "level": "ok"
                     *       },
                     *       "expiresAt": null,
                     *       "lastCheck": {
                     *         "at": "2026-01-31T12:00:00.000Z",
                     *         "ok": true,
                     *         "httpStatus": 200,
                     *         "latencyMs": 4,
                     *         "reason": null
                     *       },
                     *       "configPath": "/etc/nginx/drawbridge/current/backends/07.map"
                     *     }
                     */
                    "application/json": components["schemas"]["Health"];
                };
            };
            400: components["responses"]["invalid_request"];
            403: components["responses"]["origin_not_allowed"];
            404: components["responses"]["host_not_found"];
            421: components["responses"]["host_not_allowed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["unavailable"];
        };
    };
    listHosts: {
        parameters: {
            query?: {
                /** @description A part of a host or server. Upper and lower case are equal. */
                search?: string;
                /** @description The beginning of the name of a host. */
                prefix?: string;
                /** @description One badge, or several separated by commas. */
                badge?: string;
                server?: string;
                managed?: "true" | "false";
                /** @description Has no effect for public callers. */
                muted?: "true" | "false";
                /** @description Only hosts that are not well, or blocked, and are not muted. */
                needsAttention?: "true";
                sort?: "host" | "badge" | "server" | "since" | "latency" | "uptime";
                order?: "asc" | "desc";
                /** @description 1 to 10000; an answer has at most 500 hosts. Default: 100. */
                limit?: string;
                /** @description The `nextCursor` of the previous page. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of hosts. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "hosts": [
                     *         {
                     *           "host": "hello.lab.test",
                     *           "badge": "RUNNING",
                     *           "server": "25",
                     *           "managed": true,
                     *           "tls": true,
                     *           "url": "https://hello.lab.test/",
                     *           "since": "2026-01-31T12:00:00.000Z",
                     *           "checkedAt": "2026-01-31T12:00:00.000Z",
                     *           "latencyMs": 4,
                     *           "uptime24h": 1,
                     *           "strip": "----------------------------------------99999999",
                     *           "latencies": [
                     *             4,
                     *             5,
                     *             4
                     *           ],
                     *           "certificate": {
                     *             "notAfter": "2026-02-01T12:00:00.000Z",
                     *             "level": "ok"
                     *           },
                     *           "expiresAt": null
                     *         }
                     *       ],
                     *       "total": 1,
                     *       "matched": 1,
                     *       "nextCursor": null,
                     *       "counts": {
                     *         "RUNNING": 1
                     *       },
                     *       "servers": [
                     *         "25"
                     *       ],
                     *       "at": "2026-01-31T12:00:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Hosts"];
                };
            };
            /** @description Nothing has changed since the answer with this ETag. */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["invalid_request"];
            403: components["responses"]["origin_not_allowed"];
            421: components["responses"]["host_not_allowed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["unavailable"];
        };
    };
    muteHost: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example hello.lab.test */
                host: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MuteRequest"];
            };
        };
        responses: {
            /** @description Whether and how the host is muted now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "host": "hello.lab.test",
                     *       "muted": {
                     *         "since": "2026-01-31T12:00:00.000Z",
                     *         "until": "2026-02-01T12:00:00.000Z",
                     *         "by": "192.168.45.10",
                     *         "note": "moves to a new server"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["Muted"];
                };
            };
            400: components["responses"]["invalid_request"];
            403: components["responses"]["internal_network_required.origin_not_allowed"];
            404: components["responses"]["host_not_found"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            421: components["responses"]["host_not_allowed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["unavailable"];
        };
    };
    unmuteHost: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example hello.lab.test */
                host: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UnmuteRequest"];
            };
        };
        responses: {
            /** @description Whether and how the host is muted now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "host": "hello.lab.test",
                     *       "muted": null
                     *     }
                     */
                    "application/json": components["schemas"]["Muted"];
                };
            };
            400: components["responses"]["invalid_request"];
            403: components["responses"]["internal_network_required.origin_not_allowed"];
            404: components["responses"]["host_not_found"];
            409: components["responses"]["muted_by_configuration"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            421: components["responses"]["host_not_allowed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["unavailable"];
        };
    };
    followHosts: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The row of each host whose badge changes. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "host": "hello.lab.test",
                     *       "badge": "RUNNING",
                     *       "server": "25",
                     *       "managed": true,
                     *       "tls": true,
                     *       "url": "https://hello.lab.test/",
                     *       "since": "2026-01-31T12:00:00.000Z",
                     *       "checkedAt": "2026-01-31T12:00:00.000Z",
                     *       "latencyMs": 4,
                     *       "uptime24h": 1,
                     *       "strip": "----------------------------------------99999999",
                     *       "latencies": [
                     *         4,
                     *         5,
                     *         4
                     *       ],
                     *       "certificate": {
                     *         "notAfter": "2026-02-01T12:00:00.000Z",
                     *         "level": "ok"
                     *       },
                     *       "expiresAt": null
                     *     }
                     */
                    "text/event-stream": components["schemas"]["HostRow"];
                };
            };
            403: components["responses"]["origin_not_allowed"];
            421: components["responses"]["host_not_allowed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["unavailable"];
        };
    };
    getHostHistory: {
        parameters: {
            query: {
                /** @example hello.lab.test */
                host: string;
                /** @description Default: 1. Up to 7 days by hours, else by days. */
                days?: "1" | "7" | "30" | "90";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Uptime and latency by hours or days, and incidents. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "host": "hello.lab.test",
                     *       "days": 1,
                     *       "unit": "hour",
                     *       "from": "2026-01-31T12:00:00.000Z",
                     *       "uptime": 1,
                     *       "slots": [
                     *         {
                     *           "at": "2026-01-31T12:00:00.000Z",
                     *           "checks": 360,
                     *           "uptime": 1,
                     *           "latencyMs": 4
                     *         }
                     *       ],
                     *       "minutes": [
                     *         {
                     *           "at": "2026-01-31T12:00:00.000Z",
                     *           "checks": 2,
                     *           "uptime": 1,
                     *           "latencyMs": 5
                     *         }
                     *       ],
                     *       "incidents": [
                     *         {
                     *           "began": "2026-01-31T12:00:00.000Z",
                     *           "ended": null,
                     *           "badges": [
                     *             "HTTP 502"
                     *           ]
                     *         }
                     *       ],
                     *       "lastGoodAt": "2026-01-31T12:00:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["HostHistory"];
                };
            };
            400: components["responses"]["invalid_request"];
            403: components["responses"]["origin_not_allowed"];
            404: components["responses"]["host_not_found"];
            421: components["responses"]["host_not_allowed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["unavailable"];
        };
    };
    followHostChanges: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The changed row, the removed host, the edges, or the changed plan. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "host": "hello.lab.test",
                     *       "badge": "RUNNING",
                     *       "server": "25",
                     *       "managed": true,
                     *       "tls": true,
                     *       "url": "https://hello.lab.test/",
                     *       "since": "2026-01-31T12:00:00.000Z",
                     *       "checkedAt": "2026-01-31T12:00:00.000Z",
                     *       "latencyMs": 4,
                     *       "uptime24h": 1,
                     *       "strip": "----------------------------------------99999999",
                     *       "latencies": [
                     *         4,
                     *         5,
                     *         4
                     *       ],
                     *       "certificate": {
                     *         "notAfter": "2026-02-01T12:00:00.000Z",
                     *         "level": "ok"
                     *       },
                     *       "expiresAt": null
                     *     }
                     */
                    "text/event-stream": components["schemas"]["HostRow"] | {
                        host: string;
                    } | {
                        edges: components["schemas"]["EdgeStanding"][];
                    } | {
                        planId: string;
                    } | {
                        seq: number;
                    } | {
                        /**
                         * Format: date-time
                         * @example 2026-01-31T12:00:00.000Z
                         */
                        at: string;
                    };
                };
            };
            403: components["responses"]["origin_not_allowed"];
            421: components["responses"]["host_not_allowed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["unavailable"];
        };
    };
    diagnoseHost: {
        parameters: {
            query: {
                /** @example hello.lab.test */
                host: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The links from the visitor to the backend, and the cause. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "host": "hello.lab.test",
                     *       "badge": "DOWN",
                     *       "managed": true,
                     *       "planId": "plan_4c7p0wq9d2f6h8k1m3n5r7t9v0",
                     *       "server": "25",
                     *       "file": "unchanged",
                     *       "configPath": "/etc/nginx/drawbridge/current/backends/07.map",
                     *       "configLine": 12,
                     *       "listen": [
                     *         {
                     *           "address": "192.168.45.23",
                     *           "port": 443,
                     *           "tls": true,
                     *           "defaultServer": false
                     *         }
                     *       ],
                     *       "proxyPass": "http://192.168.45.25:3000",
                     *       "chain": [
                     *         {
                     *           "link": "dns",
                     *           "ok": true,
                     *           "detail": "The name points to the edge (192.168.45.23)."
                     *         },
                     *         {
                     *           "link": "backend_tcp",
                     *           "ok": false,
                     *           "detail": "The backend refuses connections."
                     *         }
                     *       ],
                     *       "cause": {
                     *         "code": "nothing_listening",
                     *         "level": "bad",
                     *         "sentence": "Nothing listens on port 3000 of server 25: the connection is refused.",
                     *         "advice": "Start the service on server 25. Make sure that it listens on that address, not only on localhost.",
                     *         "acts": []
                     *       },
                     *       "checkedAt": "2026-01-31T12:00:00.000Z",
                     *       "tookMs": 12
                     *     }
                     */
                    "application/json": components["schemas"]["Diagnosis"];
                };
            };
            400: components["responses"]["invalid_request"];
            403: components["responses"]["origin_not_allowed"];
            404: components["responses"]["host_not_found"];
            421: components["responses"]["host_not_allowed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["unavailable"];
        };
    };
    getMetrics: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Metrics in the Prometheus exposition format. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /** @example drawbridge_host_badge{host="hello.lab.test",badge="RUNNING",managed="true"} 1 */
                    "text/plain": string;
                };
            };
            403: components["responses"]["internal_network_required.origin_not_allowed"];
            421: components["responses"]["host_not_allowed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["unavailable"];
        };
    };
    isAlive: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The service runs. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": "ok"
                     *     }
                     */
                    "application/json": {
                        /** @enum {string} */
                        status: "ok";
                    };
                };
            };
            403: components["responses"]["origin_not_allowed"];
            421: components["responses"]["host_not_allowed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["unavailable"];
        };
    };
    isReady: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The service answers requests. `degraded`: it refuses some, or cannot bring an edge into step, until the problems in `warnings` are fixed. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": "ok"
                     *     }
                     */
                    "application/json": {
                        status: "ok" | "degraded";
                        /** @description Problems that an administrator must fix. */
                        warnings?: string[];
                    };
                };
            };
            403: components["responses"]["origin_not_allowed"];
            421: components["responses"]["host_not_allowed"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["unavailable"];
        };
    };
}
