#!lua name=joaderfs_2
-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 The joaderfs authors
--
-- The coordinator's functions in an engine that speaks the Redis protocol; coord_engine.h
-- describes each. KEYS[1] is {group}: all keys begin with it, so they lie in one slot of a Redis
-- cluster. PX: the key has a time to live.
--
--   :version                      :lead "<incarnation> <node>" PX   :termno  :token "<term>:<random>"
--   :nodes set of names           :node:<node> "<incarnation> <capacity> <address>" PX
--   :was:<node> of each node that has been live within a day PX
--   :jobs set of names            :job:<job> hash of facts, epoch, next    :with:<job> set of nodes
--   :own:<job>:<rank> incarnation PX                               :cur:<job> rank -> "<epoch>:<position>"
--   :log:<job>:<epoch>            stream of chunks, "<base>-1" -> count
--   :log:<job>:<epoch>:<base>:<count>:<ranks>:<batch>  ids of the chunk, 4 bytes each, rank by rank
--   :has:<dataset>:<node> bitmap of samples PX
--   :news number of changes that the leader has to know
--   :ready run                    :offers:<run> hash, :rep:<run> set: until the log is whole

-- Grows by one with each change of the functions: a node replaces a library of a smaller revision.
local REVISION = 8

local DAY = 24 * 60 * 60 * 1000
-- A name in :with:<job>, the set of nodes that run the training. It keeps a resized training until
-- a node runs the training with its new ranks.
local RESIZED = ':resized'

local function key(keys, name, ...)
	return table.concat({keys[1], name, ...}, ':')
end

local function fail(code)
	return redis.error_reply(code .. ' joaderfs')
end

local function is_ready(keys, run)
	return redis.call('GET', key(keys, 'ready')) == run
end

local function is_token(keys, token)
	return redis.call('GET', key(keys, 'token')) == token
end

-- Shortens another node's lease if it lasts longer than any node asks for, because the server's
-- clock was set back.
local function bound_lease(lease, ttl)
	local most = 3 * tonumber(ttl)
	if redis.call('PTTL', lease) > most then
		redis.call('PEXPIRE', lease, most)
	end
end

local function note_news(keys)
	redis.call('INCR', key(keys, 'news'))
end

local function drop_log(keys, job, epoch, ranks, batch)
	local log = key(keys, 'log', job, epoch)
	for _, chunk in ipairs(redis.call('XRANGE', log, '-', '+')) do
		local base = string.match(chunk[1], '^%d+')
		redis.call('UNLINK', table.concat({log, base, chunk[2][2], ranks, batch}, ':'))
	end
	redis.call('UNLINK', log)
end

-- Begins epoch `to`. The log of the epoch before it stays, because ranks still read it.
local function begin_epoch(keys, job, from, to, ranks, batch)
	for epoch = math.max(from - 1, 0), to - 2 do
		if epoch <= from then
			drop_log(keys, job, epoch, ranks, batch)
		end
	end
	drop_log(keys, job, to, ranks, batch) -- one may be left if the engine has lost data
	redis.call('HSET', key(keys, 'job', job), 'epoch', to, 'next', 0)
	note_news(keys)
end

-- Returns the number of the rank's samples among the first `global` samples of the epoch. In a
-- mini-batch the first ranks may have one sample more than the others.
local function position_of(global, batch, ranks, rank)
	local before, rest = math.floor(global / batch), global % batch
	return before * (math.floor(batch / ranks) + (rank < batch % ranks and 1 or 0)) +
		math.floor(rest / ranks) + (rank < rest % ranks and 1 or 0)
end

-- Appends a chunk to the log. ids: the samples of all ranks, rank by rank. The chunk's key contains
-- count, ranks and batch, so that no reader divides the samples in another way.
local function add(keys, job, epoch, base, count, batch, ranks, ids)
	local log = key(keys, 'log', job, epoch)
	redis.call('XADD', log, base .. '-1', '', count)
	redis.call('SET', table.concat({log, base, count, ranks, batch}, ':'), ids)
	redis.call('HSET', key(keys, 'job', job), 'next', base + count)
	note_news(keys)
end

-- Arguments: node incarnation [job rank]
local function release(keys, args)
	if args[3] then
		local own = key(keys, 'own', args[3], args[4])
		if redis.call('GET', own) == args[2] then
			redis.call('DEL', own)
			note_news(keys)
		end
		return 0
	end
	local node, lead = key(keys, 'node', args[1]), key(keys, 'lead')
	if string.match(redis.call('GET', node) or '', '^%S*') == args[2] then
		redis.call('DEL', node)
		redis.call('SREM', key(keys, 'nodes'), args[1])
	end
	if string.match(redis.call('GET', lead) or '', '^%S*') == args[2] then
		redis.call('DEL', lead)
	end
	return 0
end

local function members(keys)
	local result = {}
	for _, name in ipairs(redis.call('SMEMBERS', key(keys, 'nodes'))) do
		result[#result + 1] = name
		result[#result + 1] = redis.call('GET', key(keys, 'node', name)) or ''
	end
	return result
end

-- Arguments: node job
local function leave(keys, args)
	local job, with = args[2], key(keys, 'with', args[2])
	redis.call('SREM', with, args[1])
	local state = redis.call('HMGET', key(keys, 'job', job), 'epoch', 'ranks', 'batch')
	if not state[1] or redis.call('SCARD', with) > 0 then
		return 0
	end
	for epoch = math.max(tonumber(state[1]) - 1, 0), tonumber(state[1]) do
		drop_log(keys, job, epoch, state[2], state[3])
	end
	for rank = 0, tonumber(state[2]) - 1 do
		redis.call('DEL', key(keys, 'own', job, rank))
	end
	redis.call('DEL', key(keys, 'job', job), key(keys, 'cur', job), with)
	redis.call('SREM', key(keys, 'jobs'), job)
	note_news(keys)
	return 0
end

local FACTS = {'dataset', 'n', 'fingerprint', 'ranks', 'batch', 'kind'}
local STATE = {'dataset', 'n', 'fingerprint', 'ranks', 'batch', 'kind', 'epoch', 'next'}

-- Tells whether the group's job has the facts that the node gives, and whether its log is at least
-- as long as the log with which the node continues.
local function is_same(there, args)
	for i in ipairs(FACTS) do
		if there[i] ~= args[2 + i] then
			return false
		end
	end
	local epoch, to = tonumber(there[7]), tonumber(args[10])
	return epoch > to or (epoch == to and tonumber(there[8]) >= tonumber(args[11]))
end

-- Begins a job with a log of `count` samples of the epoch, which were consumed before, and sets the
-- cursors of all ranks to the end of this log.
local function begin_there(keys, job, epoch, count, batch, ranks, ids)
	if count > 0 then
		add(keys, job, epoch, 0, count, batch, ranks, ids)
	end
	for rank = 0, ranks - 1 do
		redis.call('HSET', key(keys, 'cur', job), rank,
			epoch .. ':' .. position_of(count, batch, ranks, rank))
	end
end

-- Handles a job whose facts were evicted, but whose other keys were not: drops the log, so that the
-- nodes repair it from their journals as if the engine had lost all data.
local function begin_after_loss(keys, job, batch, ranks)
	if redis.call('EXISTS', key(keys, 'with', job)) == 0 then
		return
	end
	local first, last = math.huge, 0
	for _, cursor in ipairs(redis.call('HVALS', key(keys, 'cur', job))) do
		local epoch = tonumber(string.match(cursor, '^%d+'))
		first, last = math.min(first, epoch), math.max(last, epoch)
	end
	for epoch = math.max(math.min(first, last) - 1, 0), last + 1 do
		drop_log(keys, job, epoch, ranks, batch)
	end
	redis.call('DEL', key(keys, 'ready'))
end

-- Tells whether the epoch's log has all chunks up to `next`, without a gap.
local function is_whole(keys, job, epoch, next, ranks, batch)
	local log, at = key(keys, 'log', job, epoch), 0
	for _, chunk in ipairs(redis.call('XRANGE', log, '-', '+')) do
		local base, count = string.match(chunk[1], '^%d+'), chunk[2][2]
		local ids = table.concat({log, base, count, ranks, batch}, ':')
		if tonumber(base) ~= at or redis.call('EXISTS', ids) == 0 then
			return false
		end
		at = at + tonumber(count)
	end
	return at == next
end

local function is_live(keys, node)
	return redis.call('EXISTS', key(keys, 'node', node)) == 1
end

-- Removes nodes from the job that were not live within the last day.
local function end_memberships(keys, job)
	for _, node in ipairs(redis.call('SMEMBERS', key(keys, 'with', job))) do
		if not is_live(keys, node) and redis.call('EXISTS', key(keys, 'was', node)) == 0 then
			leave(keys, {node, job})
		end
	end
end

-- Arguments: node job dataset n fingerprint ranks batch kind ids epoch count log [local]
-- local: number of processes that read each rank, for resize.
-- Returns the group's facts if they differ.
local function enter(keys, args)
	local job = key(keys, 'job', args[2])
	local there = redis.call('HMGET', job, unpack(STATE))
	if there[1] and not is_same(there, args) then
		-- If the node ran the job with the group's facts, it no longer does.
		leave(keys, args)
		end_memberships(keys, args[2])
		there = redis.call('HMGET', job, unpack(STATE))
	end
	if not there[1] then
		begin_after_loss(keys, args[2], args[7], args[6])
		for i, name in ipairs(FACTS) do
			redis.call('HSET', job, name, args[2 + i])
		end
		redis.call('HSET', job, 'epoch', args[10], 'next', 0, 'ids', args[9])
		redis.call('SADD', key(keys, 'jobs'), args[2])
		note_news(keys)
		if tonumber(args[10]) > 0 or tonumber(args[11]) > 0 then
			begin_there(keys, args[2], args[10], tonumber(args[11]), tonumber(args[7]),
				tonumber(args[6]), args[12])
		end
	elseif not is_same(there, args) then
		return there
	end
	redis.call('HSET', job, 'local', args[13] or 1)
	redis.call('SADD', key(keys, 'with', args[2]), args[1])
	redis.call('SREM', key(keys, 'with', args[2]), RESIZED)
	redis.call('SET', key(keys, 'was', args[1]), '', 'PX', DAY)
	return {}
end

-- Arguments: name (of a node or a training)
-- Forgets the node or training. Returns the live nodes that prevent this; an empty list: it is
-- forgotten.
local function drop(keys, args)
	local name, live, found = args[1], {}, false
	local with = key(keys, 'with', name)
	for _, node in ipairs(redis.call('SMEMBERS', with)) do
		live[#live + 1] = is_live(keys, node) and node or nil
	end
	if is_live(keys, name) then
		live[#live + 1] = name
	end
	table.sort(live)
	if live[1] then
		return live
	end
	if redis.call('EXISTS', key(keys, 'job', name)) == 1 then
		found = true
		redis.call('DEL', with)
		leave(keys, {'', name})
	end
	for _, job in ipairs(redis.call('SMEMBERS', key(keys, 'jobs'))) do
		found = redis.call('SREM', key(keys, 'with', job), name) == 1 or found
	end
	found = redis.call('SREM', key(keys, 'nodes'), name) == 1 or found
	redis.call('DEL', key(keys, 'was', name))
	return found and {} or fail('ENOENT')
end

-- Returns the ids of the epoch's samples that the rank has consumed.
local function consumed_of(keys, job, epoch, rank, position, ranks, batch)
	local log, parts = key(keys, 'log', job, epoch), {}
	for _, chunk in ipairs(redis.call('XRANGE', log, '-', '+')) do
		local base, count, before = string.match(chunk[1], '^%d+'), chunk[2][2], 0
		local first, last = tonumber(base), tonumber(base) + tonumber(count)
		for r = 0, rank - 1 do
			before = before + position_of(last, batch, ranks, r) -
				position_of(first, batch, ranks, r)
		end
		local from = position_of(first, batch, ranks, rank)
		local n = math.min(position, position_of(last, batch, ranks, rank)) - from
		if n > 0 then
			local ids = table.concat({log, base, count, ranks, batch}, ':')
			parts[#parts + 1] = redis.call('GETRANGE', ids, 4 * before, 4 * (before + n) - 1)
		end
	end
	return table.concat(parts)
end

-- Arguments: run job processes [local]
-- Lets the training continue with another number of processes, `local` of them for each rank, as
-- soon as nodes run it with these numbers. Without `local`, or with 0, each rank has as many as
-- before.
-- Returns the obstacle; an empty list: there was none.
local function resize(keys, args)
	local job, processes = args[2], tonumber(args[3])
	local state = redis.call('HMGET', key(keys, 'job', job), 'epoch', 'next', 'ranks', 'batch', 'n',
		'local')
	if not state[1] then
		return fail('ENOENT')
	elseif not is_ready(keys, args[1]) then
		return fail('ESTALE')
	end
	local epoch, next, n = tonumber(state[1]), tonumber(state[2]), tonumber(state[5])
	local ranks, batch, parts = tonumber(state[3]), tonumber(state[4]), {}
	local each = tonumber(args[4] or 0)
	each = each > 0 and each or tonumber(state[6] or 1)
	local to = processes / each
	if processes < 1 or processes > batch then
		return {'ranks', processes, batch}
	elseif processes % each > 0 then
		return {'local', processes, each}
	elseif not is_whole(keys, job, epoch, next, ranks, batch) then
		return fail('ESTALE')
	end
	for rank = 0, ranks - 1 do
		local cursor = redis.call('HGET', key(keys, 'cur', job), rank) or '0:0'
		local e, p = string.match(cursor, '(%d+):(%d+)')
		e, p = tonumber(e), tonumber(p)
		if e + 1 < epoch or (e < epoch and p < position_of(n, batch, ranks, rank)) then
			return {'behind', rank, p, e, epoch}
		end
		parts[#parts + 1] = e == epoch and
			consumed_of(keys, job, epoch, rank, p, ranks, batch) or ''
	end
	local ids = table.concat(parts)
	drop_log(keys, job, math.max(epoch - 1, 0), ranks, batch)
	drop_log(keys, job, epoch, ranks, batch)
	for rank = 0, ranks - 1 do
		redis.call('DEL', key(keys, 'own', job, rank))
	end
	redis.call('DEL', key(keys, 'cur', job), key(keys, 'with', job))
	redis.call('HSET', key(keys, 'job', job), 'ranks', to, 'local', each, 'next', 0)
	note_news(keys)
	begin_there(keys, job, epoch, #ids / 4, batch, to, ids)
	redis.call('SADD', key(keys, 'with', job), RESIZED)
	redis.call('SET', key(keys, 'was', RESIZED), '', 'PX', DAY)
	return {}
end

-- Returns "<incarnation> ..." of the nodes that serve the ranks; 0: no node serves the rank.
local function owners(keys, job, ranks)
	local result, own = {}, keys[1] .. ':own:' .. job .. ':'
	for first = 0, ranks - 1, 1000 do
		local names = {}
		for rank = first, math.min(first + 1000, ranks) - 1 do
			names[#names + 1] = own .. rank
		end
		for _, owner in ipairs(redis.call('MGET', unpack(names))) do
			result[#result + 1] = owner or '0'
		end
	end
	return table.concat(result, ' ')
end

-- Leaves out a job whose facts were evicted: a node that runs it enters it again.
local function jobs(keys)
	local result = {}
	for _, name in ipairs(redis.call('SMEMBERS', key(keys, 'jobs'))) do
		local state = redis.call('HMGET', key(keys, 'job', name), 'epoch', 'next', 'n',
			'ranks', 'batch', 'fingerprint')
		if state[1] then
			result[#result + 1] = {name, state, redis.call('HGETALL', key(keys, 'cur', name)),
				owners(keys, name, tonumber(state[4]))}
		end
	end
	return result
end

-- Arguments: version node incarnation value ttl run before (job rank epoch position)* [token looks]
-- Nodes whose library has revision 5 or less send no token: they call renew, members and jobs.
local function beat(keys, args)
	local version = redis.call('GET', key(keys, 'version'))
	if version and version ~= args[1] then
		return fail('EPROTO')
	end
	if not version then
		redis.call('SET', key(keys, 'version'), args[1])
	end
	local node, incarnation, ttl, before = args[2], args[3], args[5], args[7]
	local other = redis.call('GET', key(keys, 'node', node))
	other = other and string.match(other, '^%S+')
	if other and other ~= incarnation and other ~= before then
		bound_lease(key(keys, 'node', node), ttl)
		return fail('EEXIST')
	end
	local lead = redis.call('GET', key(keys, 'lead')) or ''
	if string.match(lead, '^%S*') == before then
		redis.call('DEL', key(keys, 'lead'))
		lead = ''
	end
	redis.call('SET', key(keys, 'node', node), args[4], 'PX', ttl)
	redis.call('SADD', key(keys, 'nodes'), node)
	redis.call('SET', key(keys, 'was', node), '', 'PX', DAY)
	local n = #args - (#args - 7) % 4
	local token, looks = args[n + 1], args[n + 2]
	local renewed = token and token ~= '' and string.match(lead, '^%S*') == incarnation and
		is_token(keys, token)
	if renewed then
		redis.call('PEXPIRE', key(keys, 'lead'), ttl)
	end
	local leases = {}
	for i = 8, n, 4 do
		local job, rank = args[i], args[i + 1]
		local own, cur = key(keys, 'own', job, rank), key(keys, 'cur', job)
		local with = key(keys, 'with', job)
		local ranks = redis.call('HGET', key(keys, 'job', job), 'ranks')
		local cursor = redis.call('HGET', cur, rank) or '0:0'
		local owner = redis.call('GET', own)
		local result = 'OK'
		if not ranks or tonumber(rank) >= tonumber(ranks) or (redis.call('EXISTS', with) == 1 and
			redis.call('SISMEMBER', with, node) == 0) then
			result = 'ENOENT'
		elseif owner and owner ~= incarnation and owner ~= before then
			bound_lease(own, ttl)
			result = 'EBUSY'
		else
			if owner ~= incarnation then
				note_news(keys)
			end
			redis.call('SET', own, incarnation, 'PX', ttl)
			-- Adds the job and the node again, because each set may have been evicted.
			redis.call('SADD', key(keys, 'jobs'), job)
			redis.call('SADD', with, node)
			local e, p = string.match(cursor, '(%d+):(%d+)')
			local to_e, to_p = tonumber(args[i + 2]), tonumber(args[i + 3])
			if tonumber(e) < to_e or (tonumber(e) == to_e and tonumber(p) < to_p) then
				cursor = args[i + 2] .. ':' .. args[i + 3]
				redis.call('HSET', cur, rank, cursor)
				note_news(keys)
			end
		end
		leases[#leases + 1] = result
		leases[#leases + 1] = cursor
	end
	bound_lease(key(keys, 'lead'), ttl)
	return {is_ready(keys, args[6]) and 1 or 0,
		redis.call('SISMEMBER', key(keys, 'rep', args[6]), node),
		lead,
		redis.call('GET', key(keys, 'termno')) or '0', leases,
		renewed and 1 or 0,
		redis.call('GET', key(keys, 'news')) or '0',
		looks == '1' and {members(keys), jobs(keys)} or {}}
end

-- Tells whether some rank has not read the epoch to its end. The epoch is drawn to its end.
local function is_still_read(keys, job, epoch, n, ranks, batch)
	local list, cursors = redis.call('HGETALL', key(keys, 'cur', job)), {}
	for i = 1, #list, 2 do
		cursors[list[i]] = list[i + 1]
	end
	for rank = 0, ranks - 1 do
		local e, p = string.match(cursors[tostring(rank)] or '0:0', '(%d+):(%d+)')
		if tonumber(e) < epoch or (tonumber(e) == epoch and
			tonumber(p) < position_of(n, batch, ranks, rank)) then
			return true
		end
	end
	return false
end

-- Arguments: run job
-- Checks whether a part of the log was evicted. If so, drops the log from the start of that epoch
-- on, so that the nodes repair it from their journals.
local function mend(keys, args)
	local run, job = args[1], args[2]
	local state = redis.call('HMGET', key(keys, 'job', job), 'epoch', 'next', 'ranks', 'batch', 'n')
	if not state[1] then
		return fail('ENOENT')
	end
	local epoch, next, n = tonumber(state[1]), tonumber(state[2]), tonumber(state[5])
	local ranks, batch = tonumber(state[3]), tonumber(state[4])
	local from
	if epoch > 0 and is_still_read(keys, job, epoch - 1, n, ranks, batch) and
		not is_whole(keys, job, epoch - 1, n, ranks, batch) then
		from = epoch - 1
	elseif not is_whole(keys, job, epoch, next, ranks, batch) then
		from = epoch
	else
		return 0
	end
	for lost = from, epoch do
		drop_log(keys, job, lost, ranks, batch)
	end
	redis.call('HSET', key(keys, 'job', job), 'epoch', from, 'next', 0)
	note_news(keys)
	redis.call('DEL', key(keys, 'ready'), key(keys, 'offers', run), key(keys, 'rep', run))
	return fail('ESTALE')
end

-- Arguments: job
local function facts(keys, args)
	local there = redis.call('HMGET', key(keys, 'job', args[1]), 'dataset', 'fingerprint',
		'ranks', 'batch', 'kind', 'ids')
	return there[1] and there or fail('ENOENT')
end

-- Arguments: node incarnation random ttl
local function elect(keys, args)
	local lead = redis.call('GET', key(keys, 'lead'))
	if lead and string.match(lead, '^%S+') ~= args[2] then
		return fail('EBUSY')
	end
	local term = redis.call('INCR', key(keys, 'termno'))
	redis.call('SET', key(keys, 'token'), term .. ':' .. args[3])
	redis.call('SET', key(keys, 'lead'), args[2] .. ' ' .. args[1], 'PX', args[4])
	return term
end

-- Arguments: incarnation token ttl
local function renew(keys, args)
	local lead = redis.call('GET', key(keys, 'lead'))
	if not lead or string.match(lead, '^%S+') ~= args[1] or not is_token(keys, args[2]) then
		return fail('ESTALE')
	end
	redis.call('PEXPIRE', key(keys, 'lead'), args[3])
	return 0
end

-- Arguments: run job epoch
local function open(keys, args)
	local state = redis.call('HMGET', key(keys, 'job', args[2]), 'epoch', 'next', 'n', 'ranks',
		'batch')
	local to, epoch = tonumber(args[3]), tonumber(state[1])
	if not state[1] then
		return fail('ENOENT')
	elseif not is_ready(keys, args[1]) then
		return fail('ESTALE')
	elseif to <= epoch then
		return 0
	elseif to ~= epoch + 1 or state[2] ~= state[3] then
		return fail('EAGAIN')
	elseif epoch > 0 and is_still_read(keys, args[2], epoch - 1, tonumber(state[3]),
		tonumber(state[4]), tonumber(state[5])) then
		return fail('EAGAIN') -- a rank still reads the log that would be dropped
	end
	begin_epoch(keys, args[2], epoch, to, state[4], state[5])
	return 0
end

-- Arguments: run token job epoch base count ids
local function append(keys, args)
	local job = args[3]
	local state = redis.call('HMGET', key(keys, 'job', job), 'epoch', 'next', 'batch', 'ranks')
	if not state[1] then
		return fail('ENOENT')
	elseif not is_ready(keys, args[1]) or not is_token(keys, args[2]) or
		state[1] ~= args[4] or state[2] ~= args[5] then
		return fail('ESTALE')
	end
	add(keys, job, args[4], tonumber(args[5]), tonumber(args[6]), state[3], state[4], args[7])
	return 0
end

-- Arguments: token job epoch
local function forget(keys, args)
	local state = redis.call('HMGET', key(keys, 'job', args[2]), 'epoch', 'ranks', 'batch')
	if not state[1] then
		return fail('ENOENT')
	elseif not is_token(keys, args[1]) or tonumber(args[3]) >= tonumber(state[1]) then
		return fail('ESTALE')
	end
	drop_log(keys, args[2], args[3], state[2], state[3])
	return 0
end

-- Arguments: run job epoch rank base ids
local function repair(keys, args)
	if is_ready(keys, args[1]) then
		return fail('ESTALE')
	end
	redis.call('HSET', key(keys, 'offers', args[1]),
		table.concat({args[2], args[3], args[4], args[5]}, ' '), args[6])
	return 0
end

-- Arguments: run node
local function repaired(keys, args)
	if is_ready(keys, args[1]) then
		return fail('ESTALE')
	end
	redis.call('SADD', key(keys, 'rep', args[1]), args[2])
	return 0
end

-- Arguments: run
local function offers(keys, args)
	if is_ready(keys, args[1]) then
		return fail('ESTALE')
	end
	return redis.call('HGETALL', key(keys, 'offers', args[1]))
end

-- Arguments: run node*
local function reported(keys, args)
	if is_ready(keys, args[1]) then
		return fail('ESTALE')
	end
	local result = {}
	for i = 2, #args do
		result[i - 1] = redis.call('SISMEMBER', key(keys, 'rep', args[1]), args[i])
	end
	return result
end

-- Arguments: run token job was_epoch was_next epoch base count ids
local function fill(keys, args)
	local job = args[3]
	local state = redis.call('HMGET', key(keys, 'job', job), 'epoch', 'next', 'batch', 'ranks', 'n')
	local epoch, to = tonumber(state[1]), tonumber(args[6])
	if not state[1] then
		return fail('ENOENT')
	elseif is_ready(keys, args[1]) or not is_token(keys, args[2]) or state[1] ~= args[4] or
		state[2] ~= args[5] or to < epoch or
		args[7] ~= (to == epoch and state[2] or '0') then
		return fail('ESTALE')
	end
	if to > epoch then
		if state[2] ~= state[5] then
			drop_log(keys, job, epoch, state[4], state[3])
		end
		begin_epoch(keys, job, epoch, to, state[4], state[3])
	end
	add(keys, job, args[6], tonumber(args[7]), tonumber(args[8]), state[3], state[4], args[9])
	return 0
end

-- Arguments: run token
local function ready(keys, args)
	if not is_token(keys, args[2]) then
		return fail('ESTALE')
	end
	-- Forgets dead nodes that did not report, so that no repair waits for them again.
	for _, name in ipairs(redis.call('SMEMBERS', key(keys, 'nodes'))) do
		if redis.call('EXISTS', key(keys, 'node', name)) == 0 and
			redis.call('SISMEMBER', key(keys, 'rep', args[1]), name) == 0 then
			redis.call('SREM', key(keys, 'nodes'), name)
		end
	end
	local before = redis.call('GET', key(keys, 'ready'))
	redis.call('SET', key(keys, 'ready'), args[1])
	redis.call('DEL', key(keys, 'offers', args[1]), key(keys, 'rep', args[1]))
	if before then
		redis.call('DEL', key(keys, 'offers', before), key(keys, 'rep', before))
	end
	return 0
end

-- Arguments: node dataset ttl ids
local function tell(keys, args)
	redis.call('SET', key(keys, 'has', args[2], args[1]), args[4], 'PX', args[3])
	return 0
end

-- Arguments: dataset
local function told(keys, args)
	local result = {}
	for _, node in ipairs(redis.call('SMEMBERS', key(keys, 'nodes'))) do
		local ids = redis.call('GET', key(keys, 'has', args[1], node))
		if ids and is_live(keys, node) then
			result[#result + 1] = ids
		end
	end
	return result
end

redis.register_function('joaderfs_2_beat', beat)
redis.register_function('joaderfs_2_release', release)
redis.register_function('joaderfs_2_members', members)
redis.register_function('joaderfs_2_enter', enter)
redis.register_function('joaderfs_2_leave', leave)
redis.register_function('joaderfs_2_drop', drop)
redis.register_function('joaderfs_2_resize', resize)
redis.register_function('joaderfs_2_jobs', jobs)
redis.register_function('joaderfs_2_facts', facts)
redis.register_function('joaderfs_2_elect', elect)
redis.register_function('joaderfs_2_renew', renew)
redis.register_function('joaderfs_2_open', open)
redis.register_function('joaderfs_2_append', append)
redis.register_function('joaderfs_2_forget', forget)
redis.register_function('joaderfs_2_mend', mend)
redis.register_function('joaderfs_2_repair', repair)
redis.register_function('joaderfs_2_repaired', repaired)
redis.register_function('joaderfs_2_offers', offers)
redis.register_function('joaderfs_2_reported', reported)
redis.register_function('joaderfs_2_fill', fill)
redis.register_function('joaderfs_2_ready', ready)
redis.register_function('joaderfs_2_tell', tell)
redis.register_function('joaderfs_2_told', told)
redis.register_function{function_name = 'joaderfs_2_revision', flags = {'no-writes'},
	callback = function() return REVISION end}
