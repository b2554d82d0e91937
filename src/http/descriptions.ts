/** What the reference says of each operation beyond its summary. A test holds that none is missing. */
export const DESCRIPTIONS: Readonly<Record<string, string>> = {
  getPolicy:
    'Which flow is in force, which servers, zones and ports may be used, how much may be asked per minute, and in `caller.may` what the calling address may do. Call it first.',
  createPlan:
    'Checks at the same time that the backend is healthy, that the DNS name is free and that HTTPS can be had. Answers with the ordered changes that an apply would make, and a digest of them. No system is changed. A plan whose check fails is refused with the code of the first failing check and all `checks`, and is not stored.',
  getPlan:
    'The plan as it was made, its state now, and every run of it with its steps. Works for callers on every network. A malformed id is not found, too.',
  listPlans:
    'Summaries of stored plans, newest first. Pass `nextCursor` as `cursor` to get the next page; it is null on the last one.',
  issueCapability:
    'Answers with a capability: the right to run this plan once, for this action, from the calling address, within five minutes. Send it in `x-deploy-capability`. It is stored as a hash only and never shown again.',
  applyPlan:
    'Looks again at what the plan saw, then changes certificate, proxy and DNS together and verifies the result on the Primary. When a step fails, everything is put back and `steps` and `rollback` say how. Answers when all is done; a client that hangs up does not stop the run. With `Prefer: respond-async` it answers 202 at once.',
  removeExposure:
    'Withdraws the DNS records first and then the entry of the proxy, and only what the plan made. Something that was changed elsewhere is left alone and named. Needs a capability for the action `remove`. With `Prefer: respond-async` it answers 202 at once.',
  renewCertificate:
    'Serves a better certificate from the folders, or orders one within the order budget, due or not. Answers when every host that had the former certificate is served with the new one.',
  extendExposure:
    'Sets a later end of an exposure, in seconds from now. An end that would come sooner than the present one, or that a permanent exposure does not have, is refused. Needs the same right as an apply. An exposure that has an end removes itself at that time.',
  followPlan:
    "The events of the plan's newest run: first those that happened, then each as it happens, until the event `end`. A client that comes back with `Last-Event-ID` misses none.",
  followEvents:
    'Every event of exposures, hosts and certificates, as it happens. A client that comes back with `Last-Event-ID`, or passes `after`, gets the events that it missed. `type` and `host` take lists with commas.',
  readAudit:
    'Who did what, when, with which outcome. Each line holds the hash of the line before, and `drawbridge audit verify` checks the chain. Without `after` the newest lines are told.',
  listWebhooks:
    'For each configured webhook: how many events were delivered, wait or were given up, the last fault, and the events that were given up (dead letters).',
  getHealth:
    'What the monitor saw of the host last: badge, last check, server and the path of its configuration file. Nothing is asked of the host for this call. A host that is not exposed is `host_not_found` and may be planned.',
  listHosts:
    "Every host that the Primary's edge serves, made here or not, as the monitor saw it last; with filters, order and pages. Answers 304 when `If-None-Match` holds the current `ETag`.",
  followHosts:
    'An event `badge` with the row of each host whose badge changes, and an event `hosts` when hosts come or go. A client that comes back with `Last-Event-ID` misses none.',
  diagnoseHost:
    "Looks now, within five seconds, at every link from the DNS name to the backend, and names the first cause that explains what visitors meet, with advice. Never tells the content of a file or a log line. Names that others chose, such as a file's, are quoted unless they are plain.",
  getMetrics: 'Counters and gauges of hosts, plans, runs and certificates in the exposition format of Prometheus.',
  isAlive: 'Answers 200 while the process can answer at all. It is asked under any `Host` and costs no budget.',
  isReady:
    'Answers 200 when requests can be served: the store answers and no shutdown is under way; 503 otherwise. It is asked under any `Host` and costs no budget.',
}
