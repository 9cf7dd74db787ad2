"""A plain transcription of the paper's Algorithms 1 and 2, one location at a time: what the benchmark compares with."""

import math
import random

TURN = 2 * math.pi


def tracs_c(trajectory, eps, space):
    """Algorithm 2."""
    a_sta, b_sta, a_end, b_end = space
    reports = []
    for a, b in trajectory:
        a_unit = perturb_distance((a - a_sta) / (a_end - a_sta), eps / 2)
        b_unit = perturb_distance((b - b_sta) / (b_end - b_sta), eps / 2)
        reports.append((a_sta + a_unit * (a_end - a_sta), b_sta + b_unit * (b_end - b_sta)))
    return reports


def tracs_d(trajectory, eps, space):
    """Algorithm 1, from the middle of the space."""
    eps_d = eps * math.pi / (math.pi + 1)
    a_i, b_i = (space[0] + space[2]) / 2, (space[1] + space[3]) / 2
    reports = []
    for a, b in trajectory:
        phi = math.atan2(b - b_i, a - a_i) % TURN
        new_phi = perturb_direction(phi, eps_d)
        unit = math.dist((a, b), (a_i, b_i)) / distance_space(a_i, b_i, phi, space)
        new_distance = perturb_distance(unit, eps - eps_d) * distance_space(a_i, b_i, new_phi, space)
        a_i, b_i = a_i + new_distance * math.cos(new_phi), b_i + new_distance * math.sin(new_phi)
        reports.append((a_i, b_i))
    return reports


def perturb_direction(phi, eps):
    """Definition 3."""
    p = math.exp(eps / 2) / TURN
    half = math.pi * (math.exp(eps / 2) - 1) / (math.exp(eps) - 1)
    if random.random() < p * 2 * half:
        return random.uniform(phi - half, phi + half) % TURN
    return random.uniform(phi + half, phi - half + TURN) % TURN


def perturb_distance(x, eps):
    """Definition 4."""
    p = math.exp(eps / 2)
    c = (math.exp(eps / 2) - 1) / (2 * math.exp(eps) - 2)
    if x < c:
        u, v = 0, 2 * c
    elif x < 1 - c:
        u, v = x - c, x + c
    else:
        u, v = 1 - 2 * c, 1
    if random.random() < p * (v - u):
        return random.uniform(u, v)
    y = random.uniform(0, 1 - 2 * c)
    return y if y < u else y + (v - u)


def distance_space(a_i, b_i, phi, space):
    """The distance to the border, in the four cases of the paper's appendix."""
    a_sta, b_sta, a_end, b_end = space
    phi_1 = math.atan2(b_end - b_i, a_end - a_i)
    phi_2 = math.atan2(b_end - b_i, a_sta - a_i)
    phi_3 = math.atan2(b_sta - b_i, a_sta - a_i) + TURN
    phi_4 = math.atan2(b_sta - b_i, a_end - a_i) + TURN
    if phi < phi_1 or phi >= phi_4:
        return (a_end - a_i) / math.cos(phi)
    if phi < phi_2:
        return (b_end - b_i) / math.sin(phi)
    if phi < phi_3:
        return (a_i - a_sta) / -math.cos(phi)
    return (b_i - b_sta) / -math.sin(phi)
