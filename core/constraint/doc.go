// Package constraint finds the push that a classifier's gradient needs, so that its response to background stays smooth in the mass.
//
// The gradient G_i of another loss by the logit of background event i becomes
//
//	start(m_i) G_i + K |G| / |u| u_i,        u_i = (dL/dq_i) / sqrt(q_i (1 - q_i)).
//
// L is the MoDe loss of the ranks q of the background as scores: q_i is the part of the sum of |w| below the event's score, plus half
// of the part of equal scores. So the order of the scores makes the push, and their values do not. start(m) is planing: the ratio of
// the densities of signal and background, with a floor, along a polynomial that the order allows. |G|, after start, and |u| are norms
// over the background, averaged over 200 batches. K rises with the events seen so far (settings.go).
//
// Direction takes a batch through ranks (push.go) and planing (start.go), and returns the rows of the law and a lesson. Apply gives
// them the incoming gradient, and brings the state (apply.go) up to date with the lesson.
package constraint
