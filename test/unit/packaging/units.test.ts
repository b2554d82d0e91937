import { expect, test } from 'vitest'
import { readUnit } from '../../support/package/unit.ts'

test.each(['drawbridge.service', 'drawbridge-edge.service'])(
  '%s is started again for ever, with a pause that a full journal survives',
  (name) => {
    const unit = readUnit(`packaging/${name}`)
    expect(unit.value('Unit.StartLimitIntervalSec')).toBe('0')
    expect(unit.value('Service.Restart')).toBe('always')
    expect(Number(unit.value('Service.RestartSec'))).toBeGreaterThanOrEqual(5)
  },
)
