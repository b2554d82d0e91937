/** What version 5 of the schema added to version 4 as it was released, with a row in every new table. Frozen. */
export const VERSION_5 = [
  `create table renewals (fingerprint text not null primary key, names text not null, attempts bigint not null,
    failures bigint not null, next_attempt_at bigint, reason text, advice text)`,

  `insert into schema_versions values (5)`,
  `insert into renewals values ('AA:BB', '*.lab.test', 2, 1, 1790000300000, 'The authority is away.',
    '{"askAgainAt":1790000600000}')`,
]
