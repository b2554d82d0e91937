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
         * The deployment policy, and what this caller may do
         * @description Which flow is in force, which servers, zones and ports may be used, how much may be asked per minute, and in `caller.may` what the calling address may do. Call it first.
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
         * Check backend, name, certificate and edge; change nothing
         * @description Checks at the same time that the backend is healthy, that the DNS name is free and that HTTPS can be had. Answers with the ordered changes that an apply would make, and a digest of them. No system is changed. A plan whose check fails is refused with the code of the first failing check and all `checks`, and is not stored.
         */
        post: operations["createPlan"];
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
         * A plan, for whoever knows its id
         * @description The plan as it was made, its state now, and every run of it with its steps. Works for callers on every network. A malformed id is not found, too.
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
    "/api/deploy/plans": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Recent plans, newest first (internal network only)
         * @description Summaries of stored plans, newest first. Pass `nextCursor` as `cursor` to get the next page; it is null on the last one.
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
         * Issue the one-time right to apply or remove a plan (internal network only)
         * @description Answers with a capability: the right to run this plan once, for this action, from the calling address, within five minutes. Send it in `x-deploy-capability`. It is stored as a hash only and never shown again.
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
         * Make a plan real: certificate, proxy and DNS together, verified on the Primary, or put back
         * @description Looks again at what the plan saw, then changes certificate, proxy and DNS together and verifies the result on the Primary. When a step fails, everything is put back and `steps` and `rollback` say how. Answers when all is done; a client that hangs up does not stop the run. With `Prefer: respond-async` it answers 202 at once.
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
         * Take an applied plan off the air: DNS first, then the proxy
         * @description Withdraws the DNS records first and then the entry of the proxy, and only what the plan made. Something that was changed elsewhere is left alone and named. Needs a capability for the action `remove`. With `Prefer: respond-async` it answers 202 at once.
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
         * Prolong the life of an applied plan, counted from now; never shortens it; authorized like apply
         * @description Sets a later end of an exposure, in seconds from now. An end that would come sooner than the present one, or that a permanent exposure does not have, is refused. Needs the same right as an apply. An exposure that has an end removes itself at that time.
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
         * @description Serves a better certificate from the folders, or orders one within the order budget, due or not. Answers when every host that had the former certificate is served with the new one.
         */
        post: operations["renewCertificate"];
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
         * A plan's steps as they start and end (server-sent events)
         * @description The events of the plan's newest run: first those that happened, then each as it happens, until the event `end`. A client that comes back with `Last-Event-ID` misses none.
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
         * Events as they happen (server-sent events, internal network only)
         * @description Every event of exposures, hosts and certificates, as it happens. A client that comes back with `Last-Event-ID`, or passes `after`, gets the events that it missed. `type` and `host` take lists with commas.
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
    "/api/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lines of the audit (internal network only)
         * @description Who did what, when, with which outcome. Each line holds the hash of the line before, and `drawbridge audit verify` checks the chain. Without `after` the newest lines are told.
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
         * How every webhook does, with its dead letters (internal network only)
         * @description For each configured webhook: how many events were delivered, wait or were given up, the last fault, and the events that were given up (dead letters).
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
         * A host's last check, its server and the path of its configuration file
         * @description What the monitor saw of the host last: badge, last check, server and the path of its configuration file. Nothing is asked of the host for this call. A host that is not exposed is `host_not_found` and may be planned.
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
         * Every host of the Primary's edge, with its badge
         * @description Every host that the Primary's edge serves, made here or not, as the monitor saw it last; with filters, order and pages. Answers 304 when `If-None-Match` holds the current `ETag`.
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
    "/api/hosts/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Badges as they change (server-sent events)
         * @description An event `badge` with the row of each host whose badge changes, and an event `hosts` when hosts come or go. A client that comes back with `Last-Event-ID` misses none.
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
    "/api/diagnose": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Look at a host now, link by link, and name the cause; change nothing
         * @description Looks now, within five seconds, at every link from the DNS name to the backend, and names the first cause that explains what visitors meet, with advice. Never tells the content of a file or a log line. Names that others chose, such as a file's, are quoted unless they are plain.
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
         * Numbers for Prometheus (internal network only)
         * @description Counters and gauges of hosts, plans, runs and certificates in the exposition format of Prometheus.
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
         * The service runs
         * @description Answers 200 while the process can answer at all. It is asked under any `Host` and costs no budget.
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
         * The service runs, its store answers and it is not shutting down
         * @description Answers 200 when requests can be served: the store answers and no shutdown is under way; 503 otherwise. It is asked under any `Host` and costs no budget.
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
        /** @description The policy in force. */
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
                /** @description Our own listeners: denied on every server. */
                denied: number[];
                /** @description Denied on single servers: 80 and 443 where an edge runs. */
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
                may: ("read" | "plan" | "token" | "apply" | "remove" | "renew")[];
            };
            version: string;
        };
        /** @description One name bound to one backend. */
        ExposureRequest: {
            /**
             * Format: dns-zone
             * @description A zone of the policy, compared without case.
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
             * @description The target server: one of servers.targets of the policy.
             * @example 25
             */
            server: string;
            /**
             * @description The backend's port on the target server, inside the port policy.
             * @example 3000
             */
            port: number;
            /**
             * @description The path that must answer with HTTP 2xx.
             * @example /healthz
             */
            health: string;
            /** @description Whether HTTPS is to be set up. */
            tls: boolean;
            /** @description Seconds after which the exposure removes itself. */
            expiresIn?: number;
        };
        /** @description One preflight question, answered. Further members are evidence. */
        Check: {
            /** @enum {string} */
            name: "health" | "dns" | "certificate" | "proxy";
            /** @enum {string} */
            status: "passed" | "warning" | "not_required" | "failed";
            detail: string;
        } & {
            [key: string]: unknown;
        };
        /** @description One thing that an apply would do, in order. */
        Change: {
            /** @enum {string} */
            kind: "certificate" | "proxy" | "dns";
            action: string;
        } & {
            [key: string]: unknown;
        };
        /** @description The newest run, step by step. */
        LastRun: {
            /** @enum {string} */
            action: "apply" | "remove";
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
        /** @description One run, event by event. */
        Run: {
            /** @enum {string} */
            action: "apply" | "remove";
            /** @enum {string} */
            state: "running" | "succeeded" | "rolled_back" | "blocked";
            /**
             * Format: date-time
             * @example 2026-01-31T12:00:00.000Z
             */
            startedAt: string;
            finishedAt: string | null;
            /** @description Who asked for it; told inside only. */
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
                /** @description The plan's state when the run has ended. */
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
            state: "planned" | "applying" | "applied" | "removing" | "removed" | "rolled_back" | "expired" | "blocked";
            /** @example hello.lab.test */
            host: string;
            /** @example https://hello.lab.test/ */
            url: string;
            request: components["schemas"]["ExposureRequest"];
            checks: components["schemas"]["Check"][];
            changes: components["schemas"]["Change"][];
            /** @description Covers the request and the changes: an apply does exactly this. */
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
            /** @description The address it was asked from; told inside only. */
            createdBy?: string;
            lastRun?: components["schemas"]["LastRun"];
            /** @description Every run, oldest first. */
            runs?: components["schemas"]["Run"][];
        };
        PlanSummary: {
            /** @example plan_4c7p0wq9d2f6h8k1m3n5r7t9v0 */
            planId: string;
            /** @enum {string} */
            state: "planned" | "applying" | "applied" | "removing" | "removed" | "rolled_back" | "expired" | "blocked";
            /** @example hello.lab.test */
            host: string;
            /** @example https://hello.lab.test/ */
            url: string;
            request: components["schemas"]["ExposureRequest"];
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
            /** @description The address it was asked from; told inside only. */
            createdBy?: string;
        };
        /** @description A page of plans, newest first. */
        PlanPage: {
            plans: components["schemas"]["PlanSummary"][];
            nextCursor: string | null;
        };
        /** @description The right to run the plan once. */
        Capability: {
            /** @description Shown once. Send it in the header within five minutes; never log or store it. */
            capability: string;
            /** @enum {string} */
            header: "x-deploy-capability";
            planId: string;
            /** @enum {string} */
            action: "apply" | "remove" | "renew";
            boundTo: {
                planId: string;
                /** @enum {string} */
                action: "apply" | "remove" | "renew";
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
        /** @description The plan is real. */
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
        /** @description The run goes on by itself. */
        Accepted: {
            /** @example plan_4c7p0wq9d2f6h8k1m3n5r7t9v0 */
            planId: string;
            /** @example hello.lab.test */
            host: string;
            /** @description Where the steps can be followed. */
            progress: string;
        };
        /** @description The exposure is gone. */
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
        /** @description How long it lives now. */
        Extended: {
            /** @example plan_4c7p0wq9d2f6h8k1m3n5r7t9v0 */
            planId: string;
            /**
             * Format: date-time
             * @example 2026-01-31T12:00:00.000Z
             */
            expiresAt: string;
        };
        /** @description The certificate that the host is served with now. */
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
                 * @description `issued`: by the authority, for this. `reused`: a better one lay in the folders.
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
        /** @description What happened to a step. */
        Progress: {
            /** @enum {string} */
            action: "apply" | "remove";
            /** @example proxy */
            step: string;
            /**
             * Format: date-time
             * @example 2026-01-31T12:00:00.000Z
             */
            at: string;
            detail?: string;
            /** @description The plan's state, with the last event of all: `end`. */
            state?: string;
        };
        Event: {
            /** @example evt_4f1c2b7a9d0e3f5a6b8c7d9e0f */
            id: string;
            /** @description Its place among all events. */
            seq: number;
            /** @enum {string} */
            type: "plan.refused" | "exposure.applied" | "exposure.extended" | "exposure.rolled_back" | "exposure.blocked" | "exposure.removed" | "exposure.expired" | "host.badge" | "certificate.warning" | "certificate.critical" | "certificate.expired" | "certificate.recovered" | "certificate.renewed" | "certificate.renewal_failed";
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
            /** @description Flat. `right` tells by what right it was done: `capability`, `admin_token`, `capability_and_admin_token`, `network`, `schedule` or `console`. */
            facts?: {
                [key: string]: string | number | boolean | null;
            };
            /** @description The hash of the line before. */
            previous: string;
            hash: string;
        };
        /** @description Lines of the audit. */
        AuditPage: {
            /** @description Oldest first. */
            lines: components["schemas"]["AuditLine"][];
            /** @description The place of the newest line. */
            head: number;
            /** @description Where to go on; null at the end. */
            nextAfter: number | null;
        };
        Webhook: {
            name: string;
            /** @description Where it goes, without path and query. */
            receiver: string;
            events: string[] | null;
            hosts: string[] | null;
            delivered: number;
            pending: number;
            /** @description Events that were given up. */
            dead: number;
            /** @description Something that is pending was tried before, in vain. */
            failing: boolean;
            lastDeliveredAt: string | null;
            lastFailedAt: string | null;
            lastFault: string | null;
            /** @description The newest twenty. */
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
        /** @description How the host does, and when it was last looked at. */
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
            /** @description False: it stands in the edge's own configuration and was not made here. */
            managed: boolean;
            tls: boolean;
            since: string | null;
            checkedAt: string | null;
            latencyMs: number | null;
            uptime24h: number | null;
            /** @description One character per half hour, oldest first: 9 all checks went well, 0 to 8 tenths of them, - none made. */
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
            } | null;
            expiresAt: string | null;
            /** @description For callers inside. */
            planId?: string;
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
        /** @description How a host does. */
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
            /** @description False: it stands in the edge's own configuration and was not made here. */
            managed: boolean;
            tls: boolean;
            since: string | null;
            checkedAt: string | null;
            latencyMs: number | null;
            uptime24h: number | null;
            /** @description One character per half hour, oldest first: 9 all checks went well, 0 to 8 tenths of them, - none made. */
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
            } | null;
            expiresAt: string | null;
            /** @description For callers inside. */
            planId?: string;
        };
        /** @description A page of hosts. */
        Hosts: {
            hosts: components["schemas"]["HostRow"][];
            /** @description Of all hosts. */
            total: number;
            /** @description Of those that fit the query. */
            matched: number;
            nextCursor: string | null;
            /** @description How many of all hosts have each badge. */
            counts: {
                [key: string]: number;
            };
            servers: string[];
            /**
             * Format: date-time
             * @example 2026-01-31T12:00:00.000Z
             */
            at: string;
        };
        /** @description The chain from the visitor to the backend, and the one cause. */
        Diagnosis: {
            /** @example hello.lab.test */
            host: string;
            /**
             * @description As of this look.
             * @example RUNNING
             * @example HTTP 502
             */
            badge: string;
            /** @description False: it stands in the edge's own configuration and was not made here. */
            managed: boolean;
            /** @description The file with its server block; never what is in it. A path that is not plain is a quoted JSON string. */
            configPath: string | null;
            configLine: number | null;
            listen: {
                /** @description `*` for all addresses; null where the caller may not see it. */
                address: string | null;
                /** @description Null for a unix socket. */
                port: number | null;
                tls: boolean;
                defaultServer: boolean;
            }[];
            /** @example http://192.168.45.25:3000 */
            proxyPass: string | null;
            /**
             * @description Its id, or its address where it has none.
             * @example 25
             */
            server: string | null;
            /** @enum {string} */
            file: "unchanged" | "edited" | "missing" | "not_ours";
            /** @description From the visitor to the backend. */
            chain: {
                /** @enum {string} */
                link: "dns" | "edge" | "tls" | "server_block" | "proxy_pass" | "backend_tcp" | "backend_health" | "error_log";
                /** @description Null: not asked, or not to be told; `detail` says why. */
                ok: boolean | null;
                detail: string;
            }[];
            cause: {
                /**
                 * @description Stable; the page diagnosis.md explains each.
                 * @enum {string}
                 */
                code: "healthy" | "nothing_listening" | "wrong_port" | "backend_timeout" | "backend_503" | "backend_error" | "backend_speaks_tls" | "upstream_name_unresolved" | "certificate_expired" | "certificate_wrong_name" | "certificate_expiring" | "tls_failed" | "records_changed" | "name_points_elsewhere" | "name_missing" | "dns_unknown" | "other_server_answers" | "file_edited" | "file_missing" | "not_loaded" | "edge_down" | "edge_config_broken" | "not_proxied" | "unknown";
                /** @description What is so, in plain English. */
                sentence: string;
                /** @description What to do about it. */
                advice: string;
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
            /** @description Stable: the page errors.md explains each. */
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
        /** @description `dns_name_taken`: The DNS name is taken. `proxy_name_taken`: The edge already serves this name. `proxy_config_broken`: The edge's nginx configuration is broken. */
        "dns_name_taken.proxy_name_taken.proxy_config_broken": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": {
                    /** @enum {string} */
                    code?: "dns_name_taken" | "proxy_name_taken" | "proxy_config_broken";
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
            /** @description The policy in force. */
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
                     *           "renew"
                     *         ]
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
                     *           "detail": "HTTP 200 in 3 ms",
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
                     *           "detail": "A certificate can be issued."
                     *         },
                     *         {
                     *           "name": "proxy",
                     *           "status": "passed",
                     *           "detail": "The edge's configuration is valid, and nobody else serves the name."
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
                     *       "digest": "sha256:b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9",
                     *       "createdAt": "2026-01-31T12:00:00.000Z",
                     *       "expiresAt": "2026-02-01T12:00:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Plan"];
                };
            };
            400: components["responses"]["invalid_request"];
            403: components["responses"]["origin_not_allowed"];
            409: components["responses"]["dns_name_taken.proxy_name_taken.proxy_config_broken"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            421: components["responses"]["host_not_allowed"];
            422: components["responses"]["server_not_allowed.zone_not_managed.port_not_allowed.backend_unhealthy.certificate_unavailable"];
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
                     *           "detail": "HTTP 200 in 3 ms",
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
                     *           "detail": "A certificate can be issued."
                     *         },
                     *         {
                     *           "name": "proxy",
                     *           "status": "passed",
                     *           "detail": "The edge's configuration is valid, and nobody else serves the name."
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
    listPlans: {
        parameters: {
            query?: {
                /** @description 1 to 200; 50. */
                limit?: string;
                /** @description nextCursor. */
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
                     *           "expiresAt": "2026-02-01T12:00:00.000Z"
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
                     * @description What the capability is for; apply when left out.
                     * @enum {string}
                     */
                    action?: "apply" | "remove" | "renew";
                };
            };
        };
        responses: {
            /** @description The right to run the plan once. */
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
                /** @description `respond-async`: answer 202 as soon as the run has begun. Other preferences are ignored. */
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
            /** @description The plan is real. */
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
            /** @description The run goes on by itself. */
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
                /** @description `respond-async`: answer 202 as soon as the run has begun. Other preferences are ignored. */
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
            /** @description The exposure is gone. */
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
            /** @description The run goes on by itself. */
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
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            421: components["responses"]["host_not_allowed"];
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
            /** @description How long it lives now. */
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
            header?: never;
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
            /** @description The certificate that the host is served with now. */
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
            /** @description Each step as it starts and ends. */
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
                /** @description The place to go on from, where Last-Event-ID is not sent. */
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
    readAudit: {
        parameters: {
            query?: {
                /** @description Lines after this place; left out, the newest lines. */
                after?: string;
                /** @description 1 to 1000, of which an answer has 500 at most; 100. */
                limit?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Lines of the audit. */
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
            /** @description How the host does, and when it was last looked at. */
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
                     *       "configPath": "/etc/nginx/drawbridge/hosts/hello.lab.test.conf"
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
                /** @description Part of a host or server, without case. */
                search?: string;
                /** @description One badge, or several with a comma between. */
                badge?: string;
                server?: string;
                managed?: "true" | "false";
                sort?: "host" | "badge" | "server" | "since" | "latency" | "uptime";
                order?: "asc" | "desc";
                /** @description 1 to 10000, of which an answer has 500 at most; 100. */
                limit?: string;
                /** @description nextCursor. */
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
            /** @description As it was when If-None-Match was given its ETag. */
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
    followHosts: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A row of each host whose badge changes. */
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
            /** @description The chain from the visitor to the backend, and the one cause. */
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
                     *       "server": "25",
                     *       "file": "unchanged",
                     *       "configPath": "/etc/nginx/drawbridge/hosts/hello.lab.test.conf",
                     *       "configLine": 3,
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
                     *           "detail": "The name leads to the Primary."
                     *         },
                     *         {
                     *           "link": "backend_tcp",
                     *           "ok": false,
                     *           "detail": "The backend refuses the connection."
                     *         }
                     *       ],
                     *       "cause": {
                     *         "code": "nothing_listening",
                     *         "sentence": "Nothing listens on port 3000 of server 25.",
                     *         "advice": "Start the backend, or plan the host anew on the port it listens on."
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
            /** @description The exposition format of Prometheus. */
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
            /** @description All is well. */
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
            /** @description Requests are answered. `degraded`: some are refused until the `warnings` are dealt with. */
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
                        /** @description What an administrator has to put right. */
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
