/** What version 4 of the schema added to version 3 as it was released, with a row in every new table. Frozen. */
export const VERSION_4 = [
  `create table authorities (directory text not null primary key, lines bigint not null,
    new_orders_paused_until bigint not null, paused_until bigint not null)`,
  `create table ledger (directory text not null, seq bigint not null, at bigint not null, names text not null,
    kind text not null, unproven text not null, constraint ledger_place primary key (directory, seq))`,
  `create index ledger_by_time on ledger (directory, at)`,
  `create index ledger_by_names on ledger (directory, names)`,

  `insert into schema_versions values (4)`,
  `insert into authorities values ('https://ca.test/dir', 1, 1790000060000, 0)`,
  `insert into ledger values ('https://ca.test/dir', 1, 1790000000000, 'shop.lab.test', 'failed', 'shop.lab.test')`,
]
