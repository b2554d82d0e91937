/** What version 3 of the schema added to version 2 as it was released, with a row in every new table. Frozen. */
export const VERSION_3 = [
  `alter table audit_head add column events bigint not null default 0`,
  `create table events (seq bigint not null primary key, id text not null unique, at bigint not null,
    type text not null, host text not null, plan_id text, facts text not null)`,
  `create index events_by_time on events (at)`,
  `create table webhooks (name text not null primary key, seq bigint not null, delivered bigint not null,
    last_delivered_at bigint, last_failed_at bigint, last_fault text)`,
  `create table deliveries (hook text not null references webhooks (name) on delete cascade,
    seq bigint not null references events (seq) on delete cascade, host text not null, state text not null,
    tries bigint not null, due_at bigint not null, fault text, constraint deliveries_place primary key (hook, seq))`,
  `create index deliveries_by_event on deliveries (seq)`,
  `create index deliveries_in_order on deliveries (hook, state, host, seq)`,

  `insert into schema_versions values (3)`,
  `update audit_head set events = 7`,
  `insert into events values (7, 'evt_v3', 1790000000000, 'exposure.applied', 'shop.lab.test', 'plan_v1', '{"tls":false}')`,
  `insert into webhooks values ('chat', 7, 6, 1790000000000, 1790000000000, 'HTTP 500')`,
  `insert into deliveries values ('chat', 7, 'shop.lab.test', 'dead', 9, 1790000000000, 'HTTP 500')`,
]
