/** What version 2 of the schema added to version 1 as it was released, with a row in every new table. Frozen. */
export const VERSION_2 = [
  `alter table exposures add column receipt text`,
  `alter table exposures add column expires_at bigint`,
  `create table runs (run_id text not null primary key, plan_id text not null references plans (plan_id),
    host text not null, action text not null, state text not null, holder text not null, fence bigint not null,
    actor text not null, started_at bigint not null, finished_at bigint, entries bigint not null)`,
  `create index runs_by_plan on runs (plan_id)`,
  `create unique index one_live_run_per_host on runs (host) where state = 'running'`,
  `create table journal (run_id text not null references runs (run_id) on delete cascade, seq bigint not null,
    at bigint not null, step text not null, mark text not null, content text not null,
    constraint journal_place primary key (run_id, seq))`,
  `create table orders (names text not null, directory text not null, url text not null, key_file text not null,
    created_at bigint not null, constraint orders_place primary key (names, directory))`,

  `insert into schema_versions values (2)`,
  `update exposures set receipt = '{"record":"A"}', expires_at = 1790000600000`,
  `insert into runs values ('run_v2', 'plan_v1', 'shop.lab.test', 'remove', 'running', 'one', 4, '127.0.45.10',
    1790000000000, null, 1)`,
  `insert into journal values ('run_v2', 1, 1790000000000, 'dns', 'intent', '{"image":{"ttl":60},"detail":"so far"}')`,
  `insert into orders values ('shop.lab.test', 'https://ca.test/dir', 'https://ca.test/order/1', 'keys/1.pem',
    1790000000000)`,
]
