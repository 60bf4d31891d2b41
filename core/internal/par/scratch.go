package par

import "sync"

// Scratch has the team and the memory of one call, or of one goroutine of a call. The memory is kept between calls.
type Scratch struct {
	Team  *Team
	Arena Arena
	pool  *sync.Pool // where it comes from
	mutex sync.Mutex
	rooms []*Scratch // that last as long
}

// A call has memory for all of its events, and a goroutine for a block of them. From one pool, each would grow to the larger size.
var calls, rooms sync.Pool

// Take returns scratch for one call.
func Take() *Scratch { return takeFrom(&calls) }

// Room returns scratch for a part of the work of a call.
func Room() *Scratch { return takeFrom(&rooms) }

func takeFrom(pool *sync.Pool) *Scratch {
	if sc, ok := pool.Get().(*Scratch); ok {
		return sc
	}
	return &Scratch{Team: new(Team), pool: pool}
}

// Room returns scratch for a part of the work, which lasts as long as sc.
func (sc *Scratch) Room() *Scratch {
	room := Room()
	sc.mutex.Lock()
	defer sc.mutex.Unlock()
	sc.rooms = append(sc.rooms, room)
	return room
}

// Give ends the call, or the part of its work.
func (sc *Scratch) Give() {
	for _, room := range sc.rooms {
		room.Give()
	}
	sc.rooms = sc.rooms[:0]
	sc.Team.Dismiss()
	sc.Arena.Release(0)
	sc.pool.Put(sc)
}
